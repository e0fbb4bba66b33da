/** A card under the button that was pressed: says what follows in plain words, and asks for a second press. */

import { h } from '../js/dom.js';
import { popover } from './parts.js';

/**
 * @param {HTMLElement} anchor
 * @param {{title: string, text: string, yes: string, danger?: boolean, body?: Node | null, run: () => void}} ask
 */
export function askCard(anchor, { title, text, yes, danger, body, run }) {
  const content = h(
    'div',
    { class: 'link-card ask-card' },
    h('h3', null, title),
    text && h('p', null, text),
    body,
    h(
      'footer',
      null,
      h('button', { type: 'button', class: 'button quiet', onclick: () => leave() }, 'Cancel'),
      h(
        'button',
        {
          type: 'button',
          class: `button ${danger ? 'danger' : 'is-primary'}`,
          'data-key': 'yes',
          onclick: () => {
            leave();
            run();
          },
        },
        yes,
      ),
    ),
  );
  const close = popover(anchor, content, title);
  const leave = () => {
    close();
    if (anchor.isConnected) anchor.focus();
  };
  return close;
}
