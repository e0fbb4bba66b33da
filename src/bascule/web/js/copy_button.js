/** A button that copies, and turns into a check mark once the text is in the clipboard. */

import { h } from './dom.js';
import { icon } from './icons.js';

const SHOWN = 2000; // milliseconds

/**
 * @param {string} label
 * @param {() => unknown} copy may tell, now or later, that it failed: false
 * @param {Record<string, unknown>} [props]
 * @param {string} [words] on it, where it is no mere icon
 */
export const copyButton = (label, copy, props = {}, words = '') =>
  h(
    'button',
    {
      type: 'button',
      title: label,
      'aria-label': label,
      ...props,
      class: `${words ? '' : 'icon-button'} is-copying ${props.class ?? ''}`.trim(),
      onclick: (/** @type {On} */ event) => void mark(event.currentTarget, copy()),
    },
    icon('copy'),
    icon('check'),
    words,
  );

/**
 * The mark is this browser's own: a fresh drawing of the page leaves it (`dom.js`).
 * @param {HTMLElement} button
 * @param {unknown} copied
 */
async function mark(button, copied) {
  if ((await copied) === false) return;
  button.dataset.copied = '';
  setTimeout(() => delete button.dataset.copied, SHOWN);
}
