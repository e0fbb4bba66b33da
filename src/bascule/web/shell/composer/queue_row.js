/** One message that waits: its row, its editor, and what a person can do with it. */

import { h, iconButton, prefilled } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { nameOf } from '../sessions.js';
import { mayAct } from '../state.js';
import { isWorking } from './format.js';
import { release } from './held.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('../../js/types.d.ts').PromptQueued} PromptQueued */

/**
 * The order of a queue after one message was moved to another place.
 * @param {PromptQueued[]} queue
 * @param {string} promptId
 * @param {number} to
 */
export function orderAfterMove(queue, promptId, to) {
  const order = queue.map((prompt) => prompt.prompt_id).filter((id) => id !== promptId);
  order.splice(Math.max(0, to), 0, promptId);
  return order;
}

export class QueueActions {
  /**
   * @param {App} app
   * @param {() => void} changed
   * @param {() => void} focusEditor
   */
  constructor(app, changed, focusEditor) {
    this.app = app;
    this.changed = changed;
    this.focusEditor = focusEditor;
    this.editing = '';
    this.dragged = '';
    this.over = '';
  }

  /** @param {string} promptId */
  edit(promptId) {
    this.editing = promptId;
    this.changed();
    this.focusEditor();
  }

  /**
   * @param {string} id
   * @param {PromptQueued} prompt
   * @param {string | null} text null leaves it as it is
   */
  edited(id, prompt, text) {
    const { app } = this;
    this.editing = '';
    if (text && text !== prompt.text)
      app.api.queue(id, { op: 'edit', promptId: prompt.prompt_id, text }).catch(app.trouble);
    this.changed();
    document.getElementById('message')?.focus();
  }

  /**
   * @param {string} id
   * @param {PromptQueued[]} queue
   * @param {string} promptId
   * @param {number} to
   */
  move(id, queue, promptId, to) {
    const { app } = this;
    return app.api.queue(id, { op: 'reorder', order: orderAfterMove(queue, promptId, to) }).catch(app.trouble);
  }

  /**
   * Now means instead of the turn that runs, so that is asked about.
   * @param {string} id
   * @param {PromptQueued[]} queue
   * @param {string} promptId
   */
  sendNow(id, queue, promptId) {
    const { app } = this;
    const held = queue.some((prompt) => prompt.prompt_id === promptId && prompt.held);
    if (held && !isWorking(app.store.get().sessions[id])) return release(app, id, promptId);
    const run = () =>
      void this.move(id, queue, promptId, 0)
        .then(() => (held ? app.api.queue(id, { op: 'release', promptId }) : null))
        .then(() => app.api.interrupt(id, { hold: false }))
        .catch(app.trouble);
    app.store.set({
      confirm: {
        sessionId: id,
        title: 'Send this now?',
        text: 'The turn is stopped first; what it wrote so far is kept.',
        yes: 'Stop turn and send',
        no: 'Leave it queued',
        run,
      },
    });
  }

  /**
   * @param {string} id
   * @param {string} promptId
   */
  withdraw(id, promptId) {
    void this.app.api.queue(id, { op: 'withdraw', promptId }).catch(this.app.trouble);
  }

  /** @param {string} promptId */
  dragOver(promptId) {
    if (this.over === promptId) return;
    this.over = promptId;
    this.changed();
  }

  dragEnd() {
    this.dragged = this.over = '';
    this.changed();
  }
}

/**
 * @param {State} state
 * @param {QueueActions} actions
 * @param {string} id
 * @param {PromptQueued[]} queue
 * @param {number} n
 */
export function queueRow(state, actions, id, queue, n) {
  const prompt = queue[n];
  const acts = mayAct(state, id);
  const other = nameOf(state, prompt.by ?? '', '');
  return h(
    'li',
    {
      'data-key': prompt.prompt_id,
      draggable: acts ? 'true' : null,
      class: actions.over === prompt.prompt_id ? 'over' : '',
      ...dragHandlers(actions, id, queue, n),
    },
    acts ? grip(actions, id, queue, n) : icon('clock', 14),
    h('span', { title: prompt.text }, prompt.text, other && h('small', null, other)),
    acts && rowButtons(state, actions, id, queue, n),
  );
}

/**
 * @param {QueueActions} actions
 * @param {string} id
 * @param {PromptQueued[]} queue
 * @param {number} n
 */
const dragHandlers = (actions, id, queue, n) => ({
  ondragstart: () => {
    actions.dragged = queue[n].prompt_id;
  },
  ondragend: () => actions.dragEnd(),
  ondragover: (/** @type {DragEvent} */ event) => {
    if (!actions.dragged) return;
    event.preventDefault();
    actions.dragOver(queue[n].prompt_id);
  },
  ondrop: (/** @type {DragEvent} */ event) => {
    event.preventDefault();
    void actions.move(id, queue, actions.dragged, n);
    actions.dragEnd();
  },
});

/**
 * @param {QueueActions} actions
 * @param {string} id
 * @param {PromptQueued[]} queue
 * @param {number} n
 */
const grip = (actions, id, queue, n) =>
  h(
    'button',
    {
      type: 'button',
      class: 'queue__grip',
      title: 'Drag, or move with the arrow keys',
      'aria-label': `Move: ${queue[n].text.slice(0, 40)}, ${n + 1} of ${queue.length}`,
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        const step = event.key === 'ArrowUp' ? -1 : event.key === 'ArrowDown' ? 1 : 0;
        if (!step) return;
        event.preventDefault();
        if (n + step >= 0 && n + step < queue.length) void actions.move(id, queue, queue[n].prompt_id, n + step);
      },
    },
    icon('grip', 14),
  );

/**
 * @param {State} state
 * @param {QueueActions} actions
 * @param {string} id
 * @param {PromptQueued[]} queue
 * @param {number} n
 */
function rowButtons(state, actions, id, queue, n) {
  const promptId = queue[n].prompt_id;
  const first = queue[n].held ? 'Move to the top' : 'Send next';
  /**
   * @param {string} mark
   * @param {string} label
   * @param {string} key
   * @param {() => void} onclick
   */
  const button = (mark, label, key, onclick) =>
    iconButton(mark, label, { class: 'is-small', 'data-key': key, onclick });
  return [
    n > 0 && button('up', first, 'next', () => void actions.move(id, queue, promptId, 0)),
    !state.sessions[id]?.found && button('bolt', 'Send now', 'now', () => actions.sendNow(id, queue, promptId)),
    button('edit', 'Edit', 'edit', () => actions.edit(promptId)),
    button('trash', 'Withdraw', 'withdraw', () => actions.withdraw(id, promptId)),
  ];
}

/**
 * @param {QueueActions} actions
 * @param {string} id
 * @param {PromptQueued} prompt
 */
export function queueEditor(actions, id, prompt) {
  const done = (/** @type {string | null} */ text) => actions.edited(id, prompt, text);
  const onkeydown = (/** @type {On<HTMLInputElement, KeyboardEvent>} */ event) => {
    if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault();
      done(event.currentTarget.value.trim());
    }
    if (event.key === 'Escape') {
      event.stopPropagation();
      done(null);
    }
  };
  // The field in the document may be one drawn before: the button looks beside itself.
  const keep = (/** @type {On} */ event) =>
    done(event.currentTarget.parentElement?.querySelector('textarea')?.value.trim() ?? null);
  return h(
    'li',
    { class: 'edit', 'data-key': `edit ${prompt.prompt_id}` },
    prefilled(h('textarea', { class: 'input', rows: 2, 'aria-label': 'Queued message', onkeydown }), prompt.text),
    h('button', { type: 'button', class: 'button is-small line', onclick: keep }, 'Keep'),
    h('button', { type: 'button', class: 'button is-small quiet', onclick: () => done(null) }, 'Cancel'),
  );
}
