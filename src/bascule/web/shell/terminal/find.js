/** The bar that finds text in a terminal; the frame looks, and says how often it found it. */

import { h, iconButton } from '../../js/dom.js';

/**
 * @param {(text: string, step: number) => void} find
 * @param {() => void} back gives the terminal its focus again
 */
export function findBar(find, back) {
  const result = h('span', { class: 'hint', role: 'status' });
  const field = h('input', {
    class: 'input',
    'aria-label': 'Find in this terminal',
    placeholder: 'Find in this terminal',
    oninput: () => go(0),
  });
  const go = (/** @type {number} */ step) => {
    find(field.value, step);
    if (!field.value) result.textContent = '';
  };
  const close = () => {
    bar.hidden = true;
    field.value = '';
    go(0);
    back();
  };
  field.onkeydown = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === 'Escape') {
      event.stopPropagation();
      close();
    }
    if (event.key === 'Enter') {
      event.preventDefault();
      go(event.shiftKey ? 1 : -1);
    }
  };
  const bar = h(
    'div',
    { class: 'find-bar', hidden: true },
    field,
    result,
    iconButton('up', 'Earlier', { onclick: () => go(-1) }),
    iconButton('down', 'Later', { onclick: () => go(1) }),
    iconButton('x', 'Close', { onclick: close }),
  );
  return {
    bar,
    open: () => {
      bar.hidden = false;
      field.focus();
      field.select();
    },
    /**
     * @param {number} count
     * @param {number} at
     */
    found: (count, at) => {
      if (field.value) result.textContent = count ? `${at || count} of ${count}` : 'not found';
    },
  };
}
