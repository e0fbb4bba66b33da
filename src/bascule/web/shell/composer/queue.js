/** Messages that wait for the turn to end: edit, withdraw, put in another order, send at once. */

import { h, iconButton, update } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { deliveryWords } from '../sidebar/found.js';
import { mayAct, shownSession } from '../state.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */

/**
 * @param {HTMLElement} root
 * @param {App} app
 */
export function mountQueue(root, app) {
  let editing = '';
  let dragged = '';
  let over = '';
  const again = () => draw(app.store.get());

  /** @param {State} state */
  function draw(state) {
    const id = shownSession(state);
    const queue = id && state.route.name === 'session' ? (state.live[id]?.queue ?? []) : [];
    // While the line is up a message is on its way already.
    const held =
      state.line.phase === 'live'
        ? []
        : state.held.filter((one) => one.sessionId === id && state.route.name === 'session');
    if (!id || (!queue.length && !held.length)) {
      update(root, []);
      return;
    }
    const session = state.sessions[id];
    const had = root.contains(document.activeElement)
      ? document.activeElement?.closest('li')?.getAttribute('data-key')
      : null;
    update(root, [
      h(
        'section',
        { class: 'queue', 'aria-label': 'Queued messages' },
        h(
          'header',
          null,
          icon('clock', 14),
          h('b', null, `${queue.length + held.length} queued`),
          h(
            'span',
            null,
            held.length && !queue.length
              ? 'sent when the connection is back'
              : session?.found
                ? deliveryWords(state, session)
                : 'sent when the turn ends',
          ),
        ),
        h(
          'ol',
          null,
          queue.map((one, n) => (editing === one.prompt_id ? editor(id, one) : row(state, id, queue, one, n))),
          held.map((one) =>
            h(
              'li',
              { 'data-key': one.key },
              h('span', { class: 'gr' }, icon('off', 14)),
              h('span', null, one.text),
              iconButton('trash', 'Withdraw', {
                class: 'xs',
                onclick: () => app.store.set((now) => ({ held: now.held.filter((other) => other.key !== one.key) })),
              }),
            ),
          ),
        ),
      ),
    ]);
    // A row that was put elsewhere in the document lost the focus on its way.
    if (had && !root.contains(document.activeElement))
      /** @type {HTMLElement | null} */ (root.querySelector(`[data-key="${CSS.escape(had)}"] .gr`))?.focus();
  }

  /**
   * @param {State} state
   * @param {string} id
   * @param {any[]} queue
   * @param {any} one
   * @param {number} n
   */
  const row = (state, id, queue, one, n) => {
    const acts = mayAct(state, id);
    const other = one.by && one.by !== state.me?.name ? one.by : '';
    return h(
      'li',
      {
        'data-key': one.prompt_id,
        draggable: acts ? 'true' : null,
        class: over === one.prompt_id ? 'over' : '',
        ondragstart: () => {
          dragged = one.prompt_id;
        },
        ondragend: () => {
          dragged = over = '';
          again();
        },
        ondragover: (/** @type {DragEvent} */ event) => {
          if (dragged) {
            event.preventDefault();
            if (over !== one.prompt_id) {
              over = one.prompt_id;
              again();
            }
          }
        },
        ondrop: (/** @type {DragEvent} */ event) => {
          event.preventDefault();
          reorder(id, queue, dragged, n);
          dragged = over = '';
          again();
        },
      },
      acts
        ? h(
            'button',
            {
              type: 'button',
              class: 'gr',
              title: 'Drag, or move with the arrow keys',
              'aria-label': `Move: ${one.text.slice(0, 40)}, ${n + 1} of ${queue.length}`,
              onkeydown: (/** @type {KeyboardEvent} */ event) => {
                const step = event.key === 'ArrowUp' ? -1 : event.key === 'ArrowDown' ? 1 : 0;
                if (!step) return;
                event.preventDefault();
                if (n + step >= 0 && n + step < queue.length) reorder(id, queue, one.prompt_id, n + step);
              },
            },
            icon('grip', 14),
          )
        : icon('clock', 14),
      h('span', { title: one.text }, one.text, other && h('small', null, other)),
      acts && [
        n > 0 &&
          iconButton('up', 'Send next', {
            class: 'xs',
            'data-key': 'next',
            onclick: () => reorder(id, queue, one.prompt_id, 0),
          }),
        !state.sessions[id]?.found &&
          iconButton('bolt', 'Send now', {
            class: 'xs',
            'data-key': 'now',
            onclick: () => sendNow(id, queue, one.prompt_id),
          }),
        iconButton('edit', 'Edit', {
          class: 'xs',
          'data-key': 'edit',
          onclick: () => {
            editing = one.prompt_id;
            again();
            root.querySelector('textarea')?.focus();
          },
        }),
        iconButton('trash', 'Withdraw', {
          class: 'xs',
          'data-key': 'withdraw',
          onclick: () => void app.api.queue(id, { op: 'withdraw', promptId: one.prompt_id }).catch(app.trouble),
        }),
      ],
    );
  };

  /**
   * Now means instead of the turn that runs, so that is asked about.
   * @param {string} id
   * @param {any[]} queue
   * @param {string} promptId
   */
  function sendNow(id, queue, promptId) {
    app.store.set({
      confirm: {
        sessionId: id,
        title: 'Send this now?',
        text: 'The turn is stopped first; what it wrote so far is kept.',
        yes: 'Stop turn and send',
        no: 'Let it wait',
        run: () =>
          void reorder(id, queue, promptId, 0)
            .then(() => app.api.interrupt(id))
            .catch(app.trouble),
      },
    });
  }

  /**
   * @param {string} id
   * @param {any} one
   */
  const editor = (id, one) => {
    const done = (/** @type {string | null} */ text) => {
      editing = '';
      if (text && text !== one.text)
        app.api.queue(id, { op: 'edit', promptId: one.prompt_id, text }).catch(app.trouble);
      again();
      document.getElementById('message')?.focus();
    };
    return h(
      'li',
      { class: 'edit', 'data-key': `edit ${one.prompt_id}` },
      h('textarea', {
        class: 'inp',
        rows: 2,
        'aria-label': 'Queued message',
        value: one.text,
        onkeydown: (/** @type {any} */ event) => {
          if (event.key === 'Enter' && !event.shiftKey) {
            event.preventDefault();
            done(event.currentTarget.value.trim());
          }
          if (event.key === 'Escape') {
            event.stopPropagation();
            done(null);
          }
        },
      }),
      h(
        'button',
        {
          type: 'button',
          class: 'btn sm line',
          onclick: () => done(/** @type {any} */ (root.querySelector('textarea')).value.trim()),
        },
        'Keep',
      ),
      h('button', { type: 'button', class: 'btn sm quiet', onclick: () => done(null) }, 'Cancel'),
    );
  };

  /**
   * @param {string} id
   * @param {any[]} queue
   * @param {string} promptId
   * @param {number} to
   */
  function reorder(id, queue, promptId, to) {
    const order = queue.map((one) => one.prompt_id).filter((one) => one !== promptId);
    order.splice(Math.max(0, to), 0, promptId);
    return app.api.queue(id, { op: 'reorder', order }).catch(app.trouble);
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
      if (!last) return false;
      editing = last.prompt_id;
      again();
      root.querySelector('textarea')?.focus();
      return true;
    },
  };
}
