/** Messages that wait for the turn to end: edit, withdraw, put in another order, send at once. */

import { h, iconButton, update } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { deliveryWords } from '../sidebar/found_session.js';
import { mayAct, shownSession } from '../state.js';
import { heldButtons } from './held.js';
import { QueueActions, queueEditor, queueRow } from './queue_row.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('../state.js').Held} Held */

/**
 * What waits for the session in view: with the server, and with this page while the line is down.
 * @param {State} state
 * @returns {{id: string, queue: import('../../js/types.d.ts').PromptQueued[], held: Held[]}}
 */
export function queueInView(state) {
  const id = shownSession(state);
  if (!id || state.route.name !== 'session') return { id: '', queue: [], held: [] };
  // While the line is up a message is on its way already.
  const held = state.line.phase === 'live' ? [] : state.held.filter((message) => message.sessionId === id);
  return { id, queue: state.live[id]?.queue ?? [], held };
}

/**
 * @param {HTMLElement} root
 * @param {App} app
 */
export function mountQueue(root, app) {
  const again = () => draw(app.store.get());
  const actions = new QueueActions(app, again, () => root.querySelector('textarea')?.focus());

  /** @param {State} state */
  function draw(state) {
    const had = root.contains(document.activeElement)
      ? document.activeElement?.closest('li')?.getAttribute('data-key')
      : null;
    update(root, [queueView(app, state, actions)]);
    // A row that was put elsewhere in the document lost the focus on its way.
    if (had && !root.contains(document.activeElement))
      /** @type {HTMLElement | null} */ (root.querySelector(`[data-key="${CSS.escape(had)}"] .queue__grip`))?.focus();
  }

  app.store.subscribe(draw);
  return {
    /**
     * Arrow up in an empty composer.
     * @returns {boolean}
     */
    editLast() {
      const state = app.store.get();
      const last = state.live[shownSession(state) ?? '']?.queue.at(-1);
      if (last) actions.edit(last.prompt_id);
      return Boolean(last);
    },
  };
}

/**
 * @param {App} app
 * @param {State} state
 * @param {QueueActions} actions
 */
function queueView(app, state, actions) {
  const { id, queue, held } = queueInView(state);
  if (!queue.length && !held.length) return null;
  return h(
    'section',
    { class: 'queue', 'aria-label': 'Queued messages' },
    queueHeader(app, state, id, queue, held.length),
    h(
      'ol',
      null,
      queue.map((prompt, n) =>
        actions.editing === prompt.prompt_id
          ? queueEditor(actions, id, prompt)
          : queueRow(state, actions, id, queue, n),
      ),
      held.map((message) => heldRow(app, message)),
    ),
  );
}

/**
 * How many wait, and for what. A stop holds them back: then a person says what becomes of them.
 * @param {App} app
 * @param {State} state
 * @param {string} id
 * @param {import('../../js/types.d.ts').PromptQueued[]} queue
 * @param {number} here how many this page keeps while the line is down
 */
function queueHeader(app, state, id, queue, here) {
  const stopped = queue.filter((prompt) => prompt.held);
  const waiting = queue.length - stopped.length + here;
  if (!stopped.length)
    return h(
      'header',
      null,
      icon('clock', 14),
      h('b', null, `${waiting} queued`),
      h('span', null, whenSent(state, id, queue.length === 0)),
    );
  return h(
    'header',
    { class: 'queue__held' },
    icon('pause', 14),
    h('b', null, `${stopped.length} held`),
    h('span', null, waiting ? `${waiting} queued` : 'since the turn was stopped'),
    mayAct(state, id) && heldButtons(app, id, stopped),
  );
}

/**
 * @param {State} state
 * @param {string} id
 * @param {boolean} onlyHere
 */
function whenSent(state, id, onlyHere) {
  if (onlyHere) return 'sent when the connection is back';
  const session = state.sessions[id];
  return session?.found ? deliveryWords(state, session) : 'sent when the turn ends';
}

/**
 * @param {App} app
 * @param {Held} message
 */
const heldRow = (app, message) =>
  h(
    'li',
    { 'data-key': message.key },
    h('span', { class: 'queue__grip' }, icon('off', 14)),
    h('span', null, message.text),
    iconButton('trash', 'Withdraw', {
      class: 'is-small',
      onclick: () => app.store.set((now) => ({ held: now.held.filter((other) => other.key !== message.key) })),
    }),
  );
