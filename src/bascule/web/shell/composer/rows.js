/** The rows of the composer: chips and buttons inside the box, where the session runs and which keys work below it. */

import { h, iconButton } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { agentLetter } from '../parts.js';
import { confirmInterrupt } from '../session/confirm.js';
import { deviceName, unreachable } from '../machines.js';
import { agentTitle } from '../sessions.js';
import { modeChip, modelChip } from './chips.js';
import { isWorking, typingWords } from './format.js';
import { usageRing } from './usage.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('../state.js').SessionRecord} SessionRecord */

/**
 * Each has a key: one that comes or changes (models arrive, a turn begins) must not turn the button under somebody's
 * pointer into another.
 * @param {App} app
 * @param {State} state
 * @param {SessionRecord} session
 * @param {{empty: boolean, edits: boolean}} written whether it is nothing; whether it is an earlier message
 * @param {() => void} send
 */
export const buttonRow = (app, state, session, { empty, edits }, send) => [
  h('span', { 'data-island': '', 'data-key': 'clip' }),
  h(
    'span',
    { class: 'chip k-agent', 'data-key': 'agent', title: 'The agent of this session' },
    agentLetter(session.agent),
    agentTitle(state, session.agent),
  ),
  modelChip(app, state, session),
  modeChip(app, state, session),
  h('span', { class: 'spacer', 'data-key': 'spacer' }),
  usageRing(state, session),
  isWorking(session) && stopButton(app, session),
  h(
    'button',
    {
      type: 'button',
      class: 'send',
      'data-key': 'send',
      title: edits && !empty ? 'Send in a new session' : sendTitle(state, session, empty),
      'aria-label': 'Send',
      disabled: empty || Boolean(unreachable(state, session)),
      onclick: send,
    },
    icon('send'),
  ),
];

/**
 * @param {State} state
 * @param {SessionRecord} session
 * @param {boolean} empty
 */
function sendTitle(state, session, empty) {
  const closed = unreachable(state, session);
  if (closed) return closed;
  if (empty) return 'Write something first';
  return isWorking(session) ? 'Queue it: it is sent when the turn ends' : 'Send';
}

/**
 * @param {App} app
 * @param {SessionRecord} session
 */
function stopButton(app, session) {
  const stopping = session.phase === 'interrupted';
  return iconButton('stop', stopping ? 'Stopping' : 'Stop this turn (Esc Esc)', {
    class: 'stop',
    'data-key': 'stop',
    disabled: stopping,
    onclick: () => confirmInterrupt(app, session.session_id),
  });
}

/**
 * @param {State} state
 * @param {SessionRecord} session
 */
export function placeRow(state, session) {
  const typing = typingWords(state, session.session_id);
  const closed = unreachable(state, session);
  if (closed) return [h('span', { class: 'hold', role: 'status' }, icon('off', 14), `${closed} Your text is kept.`)];
  return [
    h('span', null, icon('device', 14), deviceName(state, session)),
    h('span', { title: session.cwd }, icon('folder', 14), session.cwd),
    state.line.phase === 'lost' &&
      h('span', { class: 'hold', role: 'status' }, icon('clock', 14), 'Sent when the connection is back'),
    typing && h('span', { class: 'types', role: 'status' }, icon('edit', 14), typing),
    h('span', { class: 'spacer' }),
    h(
      'span',
      { class: 'keys' },
      h('kbd', null, 'Enter'),
      'send',
      h('kbd', null, '⇧ Enter'),
      'new line',
      h('kbd', null, 'Esc Esc'),
      'stop',
    ),
  ];
}
