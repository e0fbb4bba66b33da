/** The row of keys a phone's keyboard lacks. Ctrl sticks for one key. */

import { h } from '../../js/dom.js';
import { withControl } from '../../terminal/pressing.js';

const KEYS = [
  ['Esc', 'Esc, Escape'],
  ['Tab', 'Tab'],
  ['Ctrl', 'Ctrl: Control, for the next key'],
  ['^C', 'Control C'],
  ['Up', 'Up', '↑'],
  ['Down', 'Down', '↓'],
  ['Left', 'Left', '←'],
  ['Right', 'Right', '→'],
  ['|', 'Bar'],
  ['/', 'Slash'],
  ['Paste', 'Paste'],
];

/** @param {{press: (key: string) => void, paste: () => void}} does */
export function keyBar(does) {
  let stuck = false;
  const bar = h('div', { class: 'key-bar', role: 'toolbar', 'aria-label': 'Keys' });
  for (const [key, label, sign] of KEYS) {
    bar.append(
      h(
        'button',
        {
          type: 'button',
          class: 'key-bar__key',
          'aria-label': label,
          'data-k': key,
          ...(key === 'Ctrl' ? { 'aria-pressed': 'false' } : {}),
          // The keyboard stays open: a tap here takes no focus from the terminal.
          onpointerdown: (/** @type {Event} */ event) => event.preventDefault(),
          onclick: () => tapped(key),
        },
        sign ?? key,
      ),
    );
  }
  const ctrl = /** @type {HTMLElement} */ (bar.querySelector('[data-k=Ctrl]'));

  /** @param {boolean} on */
  function stick(on) {
    stuck = on;
    ctrl.setAttribute('aria-pressed', String(on));
    ctrl.classList.toggle('is-on', on);
  }

  /** @param {string} key */
  function tapped(key) {
    if (key === 'Ctrl') {
      stick(!stuck);
    } else if (key === 'Paste') {
      does.paste();
    } else {
      does.press(key);
    }
  }

  /**
   * What was typed, with Ctrl when it sticks. Every key passes here, so none can overtake the button.
   * @param {Uint8Array<ArrayBuffer>} keys
   */
  function taken(keys) {
    if (!stuck) return keys;
    stick(false);
    return new TextEncoder().encode(withControl(new TextDecoder().decode(keys)));
  }
  return { bar, taken };
}
