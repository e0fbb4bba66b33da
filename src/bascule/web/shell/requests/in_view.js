/** Which requests belong to the session in view. Pure. */

import { answerKey, openRequests, requestKey, shownSession } from '../state.js';
import { listedAnswers } from './waiting.js';

/** @typedef {import('../state.js').State} State */

/**
 * The requests of the session in view, and which of them is: the one picked, or the oldest; and the answers that wait,
 * or did not arrive.
 * @param {State} state
 */
export function requestsInView(state) {
  const id = shownSession(state);
  if (!id) return { all: [], at: 0, settled: [], given: [] };
  const all = openRequests(state, id);
  const picked = state.route.name === 'inbox' ? state.inboxPick : state.requestPick[id];
  const at = all.findIndex((ask) => requestKey(ask) === picked);
  const settled = Object.values(state.requests)
    .filter((ask) => ask.session_id === id && ask.state !== 'open' && ask.answer?.by !== 'policy')
    .slice(-1);
  const asked = new Set(all.map(requestKey));
  // One that did not arrive is said as long as the request waits for another.
  const isShown = (/** @type {import('../state.js').WaitedAnswer} */ answer) =>
    answer.state === 'waiting' || (answer.state !== 'applied' && asked.has(answerKey(answer)));
  const given = listedAnswers(state, Date.now()).filter((answer) => answer.sessionId === id && isShown(answer));
  return { all, at: Math.max(0, at), settled, given };
}
