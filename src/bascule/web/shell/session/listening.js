/** What a session's agent listens on, asked of its machine each time its details are opened. Nothing leads there. */

import { h, update } from '../../js/dom.js';
import { count } from '../../js/format.js';
import { visible } from '../../js/visible.js';
import { deviceName, isRemote, unreachable } from '../machines.js';
import { isOver } from '../sessions.js';
import { isGuest } from '../state.js';

/** @typedef {import('../../js/types.d.ts').Listening} Listening */
/** @typedef {import('../../js/types.d.ts').Listener} Listener */
/** @typedef {import('../state.js').SessionRecord} SessionRecord */

const REACHABLE = 'Reachable from the network: programs on other machines may connect to it.';

/**
 * Empty until there is something to say.
 * @param {import('../app.js').App} app
 * @param {SessionRecord} session
 */
export function listeningNote(app, session) {
  const state = app.store.get();
  if (isOver(session) || isGuest(state)) return null;
  const note = h('div', { class: 'menu__listens' });
  const unknown = (/** @type {string} */ why) =>
    update(note, [h('p', null, `What it listens on is not known. ${why}`)]);
  const machine = deviceName(state, session);
  if (unreachable(state, session)) unknown(`${machine} can’t be reached right now.`);
  else
    app.api.listeners(session.session_id).then(
      (answer) => update(note, listeningWords(answer, isRemote(state, session) ? machine : '')),
      (error) => unknown(visible(error instanceof Error ? error.message : '')),
    );
  return note;
}

/**
 * @param {Listening} answer
 * @param {string} machine empty when it is the one this page comes from
 */
function listeningWords({ listeners, cut, shared, unseen }, machine) {
  const more = [
    cut && 'There are more.',
    shared && listeners.length > 0 && 'Its agent’s process also serves other sessions.',
    unseen > 0 && `The system does not show what ${count(unseen, 'process', 'processes')} of it may listen on.`,
  ].filter(Boolean);
  return [
    ...listeners.map((listener) =>
      h(
        'p',
        { class: listener.loopback ? '' : 'is-reachable', 'data-key': `${listener.address} ${listener.port}` },
        `Listens on ${addressOf(listener)}${machine && ` on ${visible(machine)}`}`,
        listener.process && ` (${visible(listener.process)})`,
        !listener.loopback && h('b', null, REACHABLE),
      ),
    ),
    more.length > 0 && h('p', { 'data-key': 'more' }, more.join(' ')),
  ];
}

/** @param {Listener} listener */
const addressOf = ({ address, port }) => `${address.includes(':') ? `[${address}]` : address}:${port}`;
