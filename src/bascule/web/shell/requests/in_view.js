/** Which requests belong to the session in view. Pure. */

import { openRequests, requestKey, shownSession } from '../state.js';

/** @typedef {import('../state.js').State} State */

/**
 * The requests of the session in view, and which of them is: the one picked, or the oldest.
 * @param {State} state
 */
export function requestsInView(state) {
  const id = shownSession(state);
  if (!id) return { all: [], at: 0, settled: [] };
  const all = openRequests(state, id);
  const picked = state.route.name === 'inbox' ? state.inboxPick : state.requestPick[id];
  const at = all.findIndex((ask) => requestKey(ask) === picked);
  const settled = Object.values(state.requests)
    .filter((ask) => ask.session_id === id && ask.state !== 'open' && ask.answer?.by !== 'policy')
    .slice(-1);
  return { all, at: Math.max(0, at), settled };
}
