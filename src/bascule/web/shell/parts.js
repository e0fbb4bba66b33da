/** Small parts several screens share: dots, agent letters, key caps, menus. */

import { h } from '../js/dom.js';
import { icon } from '../js/icons.js';
import { agentMark } from '../js/format.js';

/**
 * A dot is never alone: `word` is its label, or empty when the word stands beside it.
 * @param {string} kind
 * @param {string} word
 */
export const dot = (kind, word) =>
  h('span', {
    class: `status-dot status-dot-${kind}`,
    ...(word ? { role: 'img', 'aria-label': word } : { 'aria-hidden': 'true' }),
  });

/**
 * @param {string} name
 * @param {boolean} [large]
 */
export function agentLetter(name, large = false) {
  const [letter, tint] = agentMark(name);
  return h(
    'span',
    { class: `agent-mark agent-mark-${tint}${large ? ' is-large' : ''}`, 'aria-hidden': 'true' },
    letter,
  );
}

const isMac = () => /Mac|iPhone|iPad/.test(navigator.platform);

/**
 * The name of the key that applies here.
 * @param {string} keys
 */
export const keyName = (keys) => (isMac() ? keys.replace('Ctrl', '⌘').replace('Alt', '⌥') : keys);

/** @param {string} keys */
export const keyCap = (keys) => h('kbd', null, keyName(keys));

/** @param {KeyboardEvent} event */
export const control = (event) => (isMac() ? event.metaKey : event.ctrlKey);

/**
 * A field that has just been drawn takes the focus, its text chosen.
 * @param {string} selector
 */
export function begin(selector) {
  const field = /** @type {HTMLInputElement | null} */ (document.querySelector(selector));
  field?.focus();
  field?.select();
}

/** @type {(() => void) | null} */
let closeOpen = null;

/** @typedef {import('../js/dom.js').Child} Child */
/**
 * @typedef {object} Entry
 * @property {string | Child[]} label
 * @property {string} [note]
 * @property {boolean} [on]
 * @property {boolean} [danger]
 * @property {string} [icon]
 * @property {() => void} run
 */
/** @typedef {Entry | 'line' | {title: string}} Choice */

/**
 * A menu below (or above) the element that opened it. Arrow keys move, Escape closes.
 * @param {HTMLElement} anchor
 * @param {Choice[]} choices
 * @param {Node} [extra] drawn below the choices
 */
export function menu(anchor, choices, extra) {
  closeOpen?.();
  const list = h(
    'div',
    { class: 'menu', role: 'menu' },
    choices.map((choice) => {
      if (choice === 'line') return h('hr');
      if ('title' in choice) return h('p', { class: 'caption' }, choice.title);
      return h(
        'button',
        {
          type: 'button',
          role: choice.on === undefined ? 'menuitem' : 'menuitemradio',
          'aria-checked': choice.on === undefined ? null : String(choice.on),
          class: `${choice.on ? 'is-on' : ''} ${choice.danger ? 'is-dangerous' : ''}`.trim(),
          onclick: () => {
            close();
            choice.run();
          },
        },
        choice.icon && icon(choice.icon),
        h('span', null, choice.label, choice.note && h('small', null, choice.note)),
        choice.on && icon('check', 14),
      );
    }),
    extra,
  );
  const close = () => {
    list.remove();
    removeEventListener('pointerdown', outside, true);
    closeOpen = null;
    anchor.setAttribute('aria-expanded', 'false');
  };
  /** @param {Event} event */
  const outside = (event) => {
    if (!list.contains(/** @type {Node} */ (event.target)) && !anchor.contains(/** @type {Node} */ (event.target)))
      close();
  };
  list.onkeydown = (/** @type {KeyboardEvent} */ event) => {
    const buttons = [...list.querySelectorAll('button')];
    const at = buttons.indexOf(/** @type {any} */ (document.activeElement));
    if (event.key === 'Escape') {
      close();
      anchor.focus();
      event.stopPropagation();
    }
    if (event.key === 'ArrowDown') {
      buttons[(at + 1) % buttons.length]?.focus();
      event.preventDefault();
    }
    if (event.key === 'ArrowUp') {
      buttons[(at - 1 + buttons.length) % buttons.length]?.focus();
      event.preventDefault();
    }
  };
  document.body.append(list);
  place(list, anchor);
  addEventListener('pointerdown', outside, true);
  closeOpen = close;
  anchor.setAttribute('aria-expanded', 'true');
  list.querySelector('button')?.focus();
  return close;
}

/**
 * A small card below the element that opened it, for more than a choice. Escape or a press elsewhere closes it.
 * @param {HTMLElement} anchor
 * @param {Node} content
 * @param {string} label
 */
export function popover(anchor, content, label) {
  closeOpen?.();
  const card = h('div', { class: 'menu popover', role: 'dialog', 'aria-label': label, tabindex: -1 }, content);
  const close = () => {
    card.remove();
    watch.disconnect();
    removeEventListener('pointerdown', outside, true);
    closeOpen = null;
    anchor.setAttribute('aria-expanded', 'false');
  };
  /** @param {Event} event */
  const outside = (event) => {
    const target = /** @type {Node} */ (event.target);
    if (!card.contains(target) && !anchor.contains(target)) close();
  };
  card.onkeydown = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== 'Escape') return;
    event.stopPropagation();
    close();
    anchor.focus();
  };
  document.body.append(card);
  // What it holds comes and goes, so its place is found again each time.
  const watch = new ResizeObserver(() => place(card, anchor));
  watch.observe(card);
  addEventListener('pointerdown', outside, true);
  closeOpen = close;
  anchor.setAttribute('aria-expanded', 'true');
  card.focus();
  return close;
}

/**
 * @param {HTMLElement} list
 * @param {HTMLElement} anchor
 */
function place(list, anchor) {
  const at = anchor.getBoundingClientRect();
  const size = list.getBoundingClientRect();
  const above = at.bottom + size.height + 12 > innerHeight && at.top > size.height;
  list.style.left = `${Math.max(8, Math.min(at.left, innerWidth - size.width - 8))}px`;
  list.style.top = above ? `${at.top - size.height - 6}px` : `${at.bottom + 6}px`;
}
