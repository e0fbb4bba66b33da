/** In the composer's place, where nothing can be written: the session is over, comes back, or is only read. */

import { h } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { errorOf } from '../../js/json.js';
import { resume } from '../making_room.js';
import { foundClosed } from '../sidebar/found_session.js';
import { agentTitle, isReconnecting, reconnectWords } from '../sessions.js';
import { isGuest, mayAct } from '../state.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('../state.js').SessionRecord} SessionRecord */

/**
 * @param {App} app
 * @param {State} state
 * @param {SessionRecord} session
 * @returns {import('../../js/dom.js').Child[]}
 */
export function closedView(app, state, session) {
  if (!mayAct(state, session.session_id)) return readOnly(state);
  if (session.found) return foundClosed(state, app, session);
  if (isReconnecting(session)) return reconnecting(app, state, session);
  if (session.phase === 'failed' && session.turns > 0) return notBack(app, state, session);
  return over(app, session);
}

/** @param {State} state */
const readOnly = (state) => [
  icon('lock'),
  h(
    'span',
    null,
    `Read only. ${(isGuest(state) && state.me?.madeBy) || 'Somebody else'} answers the agent’s requests.`,
  ),
];

/**
 * @param {string} mark
 * @param {string} label
 * @param {() => void} onclick
 */
const button = (mark, label, onclick) =>
  h('button', { type: 'button', class: 'button line', onclick }, icon(mark), label);

/**
 * @param {App} app
 * @param {State} state
 * @param {SessionRecord} session
 */
function reconnecting(app, state, session) {
  // The session itself tells that its agent did not come back.
  const failed = (/** @type {unknown} */ error) => {
    if (errorOf(error).code !== 'AGENT_UNAVAILABLE') app.trouble(error);
  };
  return [
    icon('refresh'),
    h('span', { role: 'status' }, `${agentTitle(state, session.agent)} stopped. ${reconnectWords(session)}`),
    h('span', { class: 'spacer' }),
    button('refresh', 'Reconnect now', () => void app.api.reconnect(session.session_id).catch(failed)),
  ];
}

/**
 * @param {App} app
 * @param {State} state
 * @param {SessionRecord} session
 */
function notBack(app, state, session) {
  const known = session.end_reason !== 'conversation_lost';
  return [
    icon('alert'),
    h(
      'span',
      { role: 'status' },
      `${agentTitle(state, session.agent)} did not come back. ` +
        `${known ? 'The reason is above' : 'It does not know this conversation any more'}; everything is kept.`,
    ),
    h('span', { class: 'spacer' }),
    known && button('refresh', 'Reconnect', () => resume(app, session.session_id)),
  ];
}

/**
 * @param {App} app
 * @param {SessionRecord} session
 */
function over(app, session) {
  const failed = session.phase === 'failed';
  return [
    icon(failed ? 'alert' : 'info'),
    h(
      'span',
      null,
      failed ? `It did not start. ${session.end_message ?? ''}` : 'This session has ended. Everything is kept.',
    ),
    h('span', { class: 'spacer' }),
    button('play', failed ? 'Try again' : 'Resume', () => resume(app, session.session_id)),
  ];
}
