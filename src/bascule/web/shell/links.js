/** A link an agent wrote: a person sees where it really goes, beside it, before it opens. */

import { copyButton } from '../js/copy_button.js';
import { h } from '../js/dom.js';
import { icon } from '../js/icons.js';
import { popover } from './parts.js';

/** @typedef {{x: number, y: number}} Point on the page */

/**
 * A point of a frame as one of the page. Whatever the frame says, it is within it.
 * @param {HTMLElement | null | undefined} frame
 * @param {{x?: unknown, y?: unknown}} said
 * @returns {Point}
 */
export function pointIn(frame, { x, y }) {
  const box = (frame ?? document.body).getBoundingClientRect();
  const within = (/** @type {unknown} */ value, /** @type {number} */ most) =>
    Math.max(0, Math.min(most, Number.isFinite(value) ? Number(value) : most / 2));
  return { x: box.left + within(x, box.width), y: box.top + within(y, box.height) };
}

/**
 * @param {(text: string) => Promise<boolean>} copy
 * @param {string} href
 * @param {Point} at
 */
export function openLink(copy, href, { x, y }) {
  const target = safe(href);
  if (!target) return;
  const anchor = h('span', { class: 'link-anchor', tabindex: -1 });
  anchor.style.left = `${x}px`;
  anchor.style.top = `${y}px`;
  document.body.append(anchor);
  const open = () => {
    close();
    window.open(target, '_blank', 'noopener,noreferrer');
  };
  const card = h(
    'div',
    { class: 'link-card' },
    h('p', { class: 'mono' }, target),
    h(
      'footer',
      null,
      copyButton('Copy the address', () => copy(target), { class: 'button quiet' }, 'Copy'),
      h('button', { type: 'button', class: 'button line', onclick: open }, icon('launch', 14), 'Open'),
    ),
  );
  const close = popover(anchor, card, 'Open this link?', () => anchor.remove());
}

/** @param {string} href */
function safe(href) {
  try {
    const url = new URL(href);
    return url.protocol === 'http:' || url.protocol === 'https:' ? url.href : '';
  } catch {
    return '';
  }
}
