/** What became of a request, shown a moment in its place; and the note for those who only read along. */

import { h } from '../../js/dom.js';
import { clockTime, limitTime } from '../../js/format.js';
import { icon } from '../../js/icons.js';
import { deviceName } from '../machines.js';
import { agentTitle, nameOf } from '../sessions.js';
import { isGuest, requestKey } from '../state.js';
import { requestTitle } from './rule_scope.js';

/** @typedef {import('../state.js').State} State */
/** @typedef {import('../state.js').OpenRequest} OpenRequest */
/** @typedef {[string, string, string]} Words an icon, what became of it, and whether there is anything left to do */

/**
 * @param {State} state
 * @param {OpenRequest} ask
 */
const agentOf = (state, ask) => agentTitle(state, state.sessions[ask.session_id]?.agent ?? '');

/**
 * @param {State} state
 * @param {OpenRequest} ask
 * @returns {Words}
 */
export function settledWords(state, ask) {
  if (ask.gone === 'restored')
    return [
      'info',
      'This request was answered before.',
      'An older copy of the log was restored, which does not say how.',
    ];
  if (ask.state !== 'answered')
    return ['x', `${agentOf(state, ask)} took this request back.`, withdrawnWords(ask.gone ?? '')];
  return ask.answer?.by === 'timeout' ? timeoutWords(state, ask) : answeredWords(state, ask);
}

/** @param {string} reason */
function withdrawnWords(reason) {
  switch (reason) {
    case 'interrupted':
      return 'The turn was stopped.';
    case 'ended':
      return 'The session has ended.';
    case 'lost':
      return 'Its process ended. If it still needs this, it will ask again.';
    default:
      return 'It continued without an answer.';
  }
}

/**
 * @param {State} state
 * @param {OpenRequest} ask
 * @returns {Words}
 */
function timeoutWords(state, ask) {
  const limit = state.me?.waits?.[ask.kind] ?? 0;
  const silent = limit ? `for ${limitTime(limit)}` : 'in time';
  return [
    'clock',
    `No answer ${silent}, so it was ${ask.kind === 'question' ? 'given up' : 'denied'}.`,
    'Send a message to let it try again.',
  ];
}

/**
 * @param {State} state
 * @param {OpenRequest} ask
 * @returns {Words}
 */
function answeredWords(state, ask) {
  const session = state.sessions[ask.session_id];
  const by = ask.answer?.by ?? '';
  const done = ask.kind === 'question' ? 'answered' : ask.answer?.decision === 'allow' ? 'allowed' : 'denied';
  if (ask.here)
    return [
      'check',
      `${done[0].toUpperCase()}${done.slice(1)}.`,
      session ? `Waiting for ${deviceName(state, session)} to confirm.` : '',
    ];
  const who = nameOf(state, by);
  return [
    'check',
    `${who} ${done} this ${who === by ? '' : 'in another browser '}at ${clockTime(ask.answered_at ?? '')}.`,
    'Nothing left to do.',
  ];
}

/**
 * @param {State} state
 * @param {OpenRequest} ask
 */
export function settledCard(state, ask) {
  const [mark, first, second] = settledWords(state, ask);
  return h(
    'div',
    { class: 'note', role: 'status', 'data-key': `done ${requestKey(ask)}` },
    icon(mark),
    h('span', null, first, ' ', h('small', null, second)),
  );
}

/**
 * @param {State} state
 * @param {OpenRequest} ask
 */
export function readOnlyCard(state, ask) {
  const agent = agentOf(state, ask);
  return h(
    'div',
    { class: 'note' },
    icon('clock'),
    h(
      'span',
      null,
      ask.kind === 'question' ? `${agent} has a question.` : `${requestTitle(agent, ask.asked ?? {})}.`,
      h('small', null, `${(isGuest(state) && state.me?.madeBy) || 'Somebody else'} answers it.`),
    ),
  );
}
