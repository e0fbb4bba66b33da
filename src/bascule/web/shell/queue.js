/** Messages that wait for the turn to end: edit, withdraw, put in another order. */

import { h, iconButton, update } from '../js/dom.js';
import { icon } from '../js/icons.js';
import { shownSession } from './state.js';

/** @typedef {import('./app.js').App} App */
/** @typedef {import('./state.js').State} State */

/** @param {HTMLElement} root @param {App} app */
export function mountQueue(root, app) {
  let editing = '';
  let dragged = '';
  const again = () => draw(app.store.get());

  /** @param {State} state */
  function draw(state) {
    const id = shownSession(state);
    const queue = id && state.route.name === 'session' ? state.live[id]?.queue ?? [] : [];
    // While the line is up a message is on its way already.
    const held = state.line.phase === 'live' ? [] : state.held.filter((one) => one.sessionId === id && state.route.name === 'session');
    if (!id || (!queue.length && !held.length)) {
      update(root, []);
      return;
    }
    update(root, [
      h('section', { class: 'queue', 'aria-label': 'Queued messages' },
        h('header', null, icon('clock', 14), h('b', null, `${queue.length + held.length} queued`), h('span', null, held.length && !queue.length ? 'sent when the connection is back' : 'sent when the turn ends')),
        h('ol', null, queue.map((one, n) => (editing === one.prompt_id ? editor(id, one) : row(id, queue, one, n))),
          held.map((one) => h('li', { 'data-key': one.key }, h('span', { class: 'gr' }, icon('off', 14)), h('span', null, one.text), iconButton('trash', 'Withdraw', { class: 'xs', onclick: () => app.store.set((now) => ({ held: now.held.filter((other) => other.key !== one.key) })) }))))),
    ]);
  }

  /** @param {string} id @param {any[]} queue @param {any} one @param {number} n */
  const row = (id, queue, one, n) => h('li', {
    'data-key': one.prompt_id, draggable: 'true', ondragstart: () => { dragged = one.prompt_id; },
    ondragover: (/** @type {DragEvent} */ event) => { if (dragged) event.preventDefault(); },
    ondrop: (/** @type {DragEvent} */ event) => { event.preventDefault(); reorder(id, queue, dragged, n); dragged = ''; },
  },
  h('button', { type: 'button', class: 'gr', title: 'Move up', 'aria-label': `Move up: ${one.text.slice(0, 40)}`, onclick: () => reorder(id, queue, one.prompt_id, n - 1) }, icon('grip', 14)),
  h('span', { title: one.text }, one.text),
  n > 0 && iconButton('bolt', 'Send next', { class: 'xs', onclick: () => reorder(id, queue, one.prompt_id, 0) }),
  iconButton('edit', 'Edit', { class: 'xs', onclick: () => { editing = one.prompt_id; again(); root.querySelector('textarea')?.focus(); } }),
  iconButton('trash', 'Withdraw', { class: 'xs', onclick: () => void app.api.queue(id, { op: 'withdraw', promptId: one.prompt_id }).catch(app.trouble) }));

  /** @param {string} id @param {any} one */
  const editor = (id, one) => {
    const done = (/** @type {string | null} */ text) => {
      editing = '';
      if (text && text !== one.text) app.api.queue(id, { op: 'edit', promptId: one.prompt_id, text }).catch(app.trouble);
      again();
      document.getElementById('message')?.focus();
    };
    return h('li', { class: 'edit', 'data-key': `edit ${one.prompt_id}` },
      h('textarea', {
        class: 'inp', rows: 2, 'aria-label': 'Queued message', value: one.text,
        onkeydown: (/** @type {any} */ event) => {
          if (event.key === 'Enter' && !event.shiftKey) { event.preventDefault(); done(event.currentTarget.value.trim()); }
          if (event.key === 'Escape') { event.stopPropagation(); done(null); }
        },
      }),
      h('button', { type: 'button', class: 'btn sm line', onclick: () => done(/** @type {any} */ (root.querySelector('textarea')).value.trim()) }, 'Keep'),
      h('button', { type: 'button', class: 'btn sm quiet', onclick: () => done(null) }, 'Cancel'));
  };

  /** @param {string} id @param {any[]} queue @param {string} promptId @param {number} to */
  function reorder(id, queue, promptId, to) {
    const order = queue.map((one) => one.prompt_id).filter((one) => one !== promptId);
    order.splice(Math.max(0, to), 0, promptId);
    app.api.queue(id, { op: 'reorder', order }).catch(app.trouble);
  }

  app.store.subscribe(draw);
  return {
    /** Arrow up in an empty composer. @returns {boolean} */
    editLast() {
      const state = app.store.get();
      const last = state.live[shownSession(state) ?? '']?.queue.at(-1);
      if (!last) return false;
      editing = last.prompt_id;
      again();
      root.querySelector('textarea')?.focus();
      return true;
    },
  };
}
