/** Find in this conversation: the bar above a transcript; its frame looks for the text. */

import { h, iconButton } from '../../js/dom.js';
import { shownSession } from '../state.js';

/** @typedef {import('../app.js').App} App */

/**
 * @param {HTMLElement} root
 * @param {App} app
 * @param {() => boolean} elsewhere a terminal in front finds in itself
 */
export function mountFind(root, app, elsewhere) {
  let text = '';
  const ask = (/** @type {number} */ step) => {
    const id = shownSession(app.store.get());
    if (id) app.frames.tell(id, { type: 'find', text, step });
  };
  const result = h('span', { class: 'hint' });
  const field = h('input', {
    class: 'input',
    'aria-label': 'Find in this conversation',
    placeholder: 'Find in this conversation',
    oninput: () => {
      text = field.value;
      ask(0);
    },
  });
  const close = () => {
    root.hidden = true;
    text = '';
    ask(0);
    document.getElementById('message')?.focus();
  };
  field.onkeydown = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === 'Escape') {
      event.stopPropagation();
      close();
    }
    if (event.key === 'Enter') {
      event.preventDefault();
      ask(event.shiftKey ? 1 : -1);
    }
  };
  root.append(
    h(
      'div',
      { class: 'find-bar' },
      field,
      result,
      iconButton('up', 'Earlier', { onclick: () => ask(-1) }),
      iconButton('down', 'Later', { onclick: () => ask(1) }),
      iconButton('x', 'Close', { onclick: close }),
    ),
  );
  app.events.on('findResult', ({ count, at, looking }) => {
    const words = count ? `${at} of ${count}` : looking ? 'looking' : 'not found';
    result.textContent = text ? words : '';
  });
  return {
    open: () => {
      if (elsewhere()) return;
      root.hidden = false;
      field.value = '';
      text = '';
      result.textContent = '';
      field.focus();
    },
  };
}
