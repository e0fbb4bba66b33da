/** A session begun outside Bascule, once it is open here: its terminal, when a message goes out, and going on here. */

import { copyButton } from '../../js/copy_button.js';
import { h } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { deviceIdOf } from '../machines.js';
import { agentTitle } from '../sessions.js';
import { mayStart } from '../state.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('../state.js').SessionRecord} SessionRecord */

/**
 * @param {State} state
 * @param {SessionRecord} session
 */
export function openTerminal(state, session) {
  const id = session.session_id;
  const list = state.found[deviceIdOf(state, session)];
  const listed = list?.sessions.find((item) => item.sessionId === id)?.terminal ?? null;
  return id in state.foundOpen ? state.foundOpen[id].terminal : listed;
}

/**
 * What the agent does there, as it says itself.
 * @param {{status: string, waitingFor?: string}} terminal
 */
export const terminalWords = (terminal) =>
  terminal.status === 'working'
    ? 'working'
    : terminal.status === 'waiting'
      ? `waiting there${terminal.waitingFor ? ` (${terminal.waitingFor})` : ''}`
      : 'idle';

/**
 * @param {State} state
 * @param {SessionRecord} session
 */
export function terminalNote(state, session) {
  const terminal = openTerminal(state, session);
  return (
    terminal &&
    h(
      'p',
      { class: 'found-note' },
      icon('terminal', 14),
      h(
        'span',
        null,
        h('b', null, `Open in a terminal, ${terminalWords(terminal)}.`),
        ' You’re following live. ',
        terminal.listens
          ? `A message is delivered when ${agentTitle(state, session.agent)} is idle there.`
          : [
              'A message waits until it is closed there; then the session continues here with it. ',
              h('code', null, 'bascule feedback on'),
              ' has it delivered there, when the agent is idle.',
            ],
      ),
    )
  );
}

/**
 * When a message for a session in a terminal goes out.
 * @param {State} state
 * @param {SessionRecord} session
 */
export const deliveryWords = (state, session) =>
  openTerminal(state, session)?.listens
    ? `delivered when ${agentTitle(state, session.agent)} is idle in its terminal`
    : 'sent when its terminal is closed, or sooner after `bascule feedback on`';

/**
 * The words in the empty composer of a session that is open in a terminal.
 * @param {State} state
 * @param {SessionRecord} session
 */
export const foundPlaceholder = (state, session) => {
  if (!session.found) return '';
  const agent = agentTitle(state, session.agent);
  return openTerminal(state, session)?.listens
    ? `Message ${agent}. It is delivered when ${agent} is idle in its terminal.`
    : `Message ${agent}. It waits until the terminal is closed.`;
};

/**
 * In the composer's place, when the session is over where it was begun.
 * @param {State} state
 * @param {App} app
 * @param {SessionRecord} session
 */
export function foundClosed(state, app, session) {
  const id = session.session_id;
  const command = state.foundOpen[id]?.command;
  const go = () => void app.api.resume(id).then(() => app.note('It continues here.'), app.trouble);
  return [
    icon('info'),
    h(
      'span',
      { class: 'found-note__text' },
      `Started outside Bascule, read from ${agentTitle(state, session.agent)}’s own files. Read only ` +
        'until you continue it here.',
      command && h('small', null, 'Or in a terminal there: ', h('code', null, command)),
    ),
    h('span', { class: 'spacer' }),
    command && copyButton('Copy command', () => app.copy(command), { class: 'button line' }, 'Copy command'),
    mayStart(state) &&
      h('button', { type: 'button', class: 'button line', onclick: go }, icon('play'), 'Continue here'),
  ];
}
