/** Small parts several screens share: dots, agent letters, key caps, menus. */

import { h } from '../js/dom.js';
import { icon } from '../js/icons.js';
import { agentMark } from '../js/format.js';
import { machineMark } from './sessions.js';

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

/**
 * On a session of another machine than the one this page comes from.
 * @param {import('./state.js').State} state
 * @param {import('./state.js').SessionRecord} session
 */
export function remoteMark(state, session) {
  const { word, title } = machineMark(state, session);
  return h('span', { class: 'mark-label is-remote', title, 'data-key': 'remote' }, word);
}

const isMac = () => /Mac|iPhone|iPad/.test(navigator.platform);

/**
 * The name of the key that applies here.
 * @param {string} keys
 */
export const keyName = (keys) => (isMac() ? keys.replace('Ctrl', '⌘').replace('Alt', '⌥') : keys);

/**
 * A key beside what it does, where there are keys: a finger has none.
 * @param {string} keys
 */
export const keyNote = (keys) => (matchMedia('(pointer: fine)').matches ? keyName(keys) : undefined);

/** @param {string} keys */
export const keyCap = (keys) => h('kbd', null, keyName(keys));

/** @param {KeyboardEvent} event */
export const control = (event) => (isMac() ? event.metaKey : event.ctrlKey);

// What lies over the page and has the keys: menus, cards, the search. Not requests, which are part of it.
export const FLOATING = '[role=menu], [role=dialog]:not(.request), .palette';

/**
 * A field that has just been drawn takes the focus, its text chosen.
 * @param {string} selector
 */
export function begin(selector) {
  const field = /** @type {HTMLInputElement | null} */ (document.querySelector(selector));
  field?.focus();
  field?.select();
}

/**
 * What floats above the page, a menu or a card: one at a time.
 * @type {(() => void) | null}
 */
let closeOpen = null;

/** Going to another screen leaves nothing open behind. */
export const closeMenus = () => closeOpen?.();

/**
 * Show it below (or above) the element that opened it. Escape and a press elsewhere close it, also one in a frame:
 * that takes the focus out of this document.
 * @param {HTMLElement} anchor
 * @param {HTMLElement} card
 * @param {() => void} [closed]
 * @returns {() => void} closes it
 */
function float(anchor, card, closed) {
  closeOpen?.();
  // What it holds comes and goes, so its place is found again each time.
  const watch = new ResizeObserver(() => place(card, anchor));
  const away = new AbortController();
  const { signal } = away;
  const close = () => {
    card.remove();
    watch.disconnect();
    away.abort();
    if (closeOpen === close) closeOpen = null;
    anchor.setAttribute('aria-expanded', 'false');
    closed?.();
  };
  const isInside = (/** @type {unknown} */ target) =>
    target instanceof Node && (card.contains(target) || anchor.contains(target));
  addEventListener('pointerdown', (event) => isInside(event.target) || close(), { capture: true, signal });
  addEventListener('blur', () => setTimeout(() => document.activeElement instanceof HTMLIFrameElement && close()), {
    signal,
  });
  const escape = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== 'Escape') return;
    event.stopPropagation();
    close();
    anchor.focus();
  };
  card.addEventListener('keydown', escape);
  // The focus may be elsewhere: back at the button, in a field, or nowhere. There the key means this, and only this.
  const isOutside = (/** @type {EventTarget | null} */ target) => !(target instanceof Node && card.contains(target));
  addEventListener('keydown', (event) => isOutside(event.target) && escape(event), { capture: true, signal });
  document.body.append(card);
  place(card, anchor);
  watch.observe(card);
  closeOpen = close;
  anchor.setAttribute('aria-expanded', 'true');
  return close;
}

/** @typedef {import('../js/dom.js').Child} Child */
/**
 * @typedef {object} Entry
 * @property {string | Child[]} label
 * @property {string} [note]
 * @property {string} [key] the key that does the same
 * @property {boolean} [on]
 * @property {boolean} [danger]
 * @property {boolean} [off] it can’t be chosen now; `note` says why
 * @property {string} [icon]
 * @property {() => void} run
 */
/** @typedef {Entry | 'line' | {title: string}} Choice */

/**
 * A menu: arrow keys move.
 * @param {HTMLElement} anchor
 * @param {Choice[]} choices
 * @param {Node} [extra] drawn below the choices
 */
export function menu(anchor, choices, extra) {
  const list = h(
    'div',
    { class: 'menu', role: 'menu', tabindex: -1 },
    choices.map((choice) => {
      if (choice === 'line') return h('hr');
      if ('title' in choice) return h('p', { class: 'caption' }, choice.title);
      return h(
        'button',
        {
          type: 'button',
          role: choice.on === undefined ? 'menuitem' : 'menuitemradio',
          'aria-checked': choice.on === undefined ? null : String(choice.on),
          'aria-disabled': choice.off ? 'true' : null,
          class: `${choice.on ? 'is-on' : ''} ${choice.danger ? 'is-dangerous' : ''}`.trim(),
          onclick: () => {
            if (choice.off) return;
            close();
            choice.run();
          },
        },
        choice.icon && icon(choice.icon),
        h('span', null, choice.label, choice.note && h('small', null, choice.note)),
        choice.key && h('kbd', null, choice.key),
        choice.on && icon('check', 14),
      );
    }),
    extra,
  );
  list.onkeydown = (/** @type {KeyboardEvent} */ event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const buttons = [...list.querySelectorAll('button')];
    if (!step || !buttons.length) return;
    const at = buttons.findIndex((button) => button === document.activeElement);
    buttons[(at + step + buttons.length) % buttons.length].focus();
    event.preventDefault();
  };
  const close = float(anchor, list);
  (list.querySelector('button') ?? list).focus();
  return close;
}

/**
 * A small card below the element that opened it, for more than a choice.
 * @param {HTMLElement} anchor
 * @param {Node} content
 * @param {string} label
 * @param {() => void} [closed]
 */
export function popover(anchor, content, label, closed) {
  const card = h('div', { class: 'menu popover', role: 'dialog', 'aria-label': label, tabindex: -1 }, content);
  const close = float(anchor, card, closed);
  card.focus();
  return close;
}

/**
 * Below what opened it, or above; a menu is as high as there is room on the larger side.
 * @param {HTMLElement} list
 * @param {HTMLElement} anchor
 */
function place(list, anchor) {
  const at = anchor.getBoundingClientRect();
  const [over, under] = [at.top - 14, innerHeight - at.bottom - 14];
  const whole = list.scrollHeight + list.offsetHeight - list.clientHeight;
  if (!list.classList.contains('popover'))
    list.style.maxHeight = `${Math.max(160, whole > under && over > under ? over : under)}px`;
  const size = list.getBoundingClientRect();
  const above = at.bottom + size.height + 12 > innerHeight && at.top > size.height;
  list.style.left = `${Math.max(8, Math.min(at.left, innerWidth - size.width - 8))}px`;
  list.style.top = above ? `${at.top - size.height - 6}px` : `${at.bottom + 6}px`;
}

/**
 * Words of several origins in one line, each running in its own direction.
 * @param {string} words with dots between them
 */
export const isolated = (words) => words.split(' · ').flatMap((one, n) => [n > 0 && ' · ', one && h('bdi', null, one)]);
