/** A dialog over the page: it holds the focus, Escape and a press beside it close it, and the focus goes back. */

import { h, iconButton, update } from '../../js/dom.js';

/**
 * @param {string} label
 * @param {(draw: () => void, close: () => void) => import('../../js/dom.js').Child[]} content drawn again by `draw`
 * @param {() => void} [closed]
 */
export function openDialog(label, content, closed) {
  const before = document.activeElement;
  const body = h('div', { class: 'dialog__body' });
  const dialog = h(
    'div',
    { class: 'dialog', role: 'dialog', 'aria-modal': 'true', 'aria-label': label, tabindex: -1 },
    h('header', null, h('h2', null, label), iconButton('x', 'Close', { onclick: () => close() })),
    body,
  );
  const scrim = h('div', { class: 'scrim dialog-scrim' }, dialog);
  scrim.onpointerdown = (/** @type {Event} */ event) => event.target === scrim && close();
  dialog.onkeydown = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === 'Escape') close();
    else if (event.key === 'Tab') keepInside(dialog, event);
    event.stopPropagation(); // the page's own keys are not for a dialog
  };
  const draw = () => update(body, content(draw, close));
  function close() {
    scrim.remove();
    closed?.();
    if (before instanceof HTMLElement && before.isConnected) before.focus();
  }
  document.body.append(scrim);
  draw();
  /** @type {HTMLElement} */ (body.querySelector('input, textarea, select') ?? dialog).focus();
  return { draw, close };
}

/**
 * @param {HTMLElement} dialog
 * @param {KeyboardEvent} event
 */
function keepInside(dialog, event) {
  const stops = [...dialog.querySelectorAll('button, input, textarea, select, summary, [tabindex="0"]')].filter(
    (element) => !('disabled' in element && element.disabled) && element.getClientRects().length,
  );
  const [first, last] = [stops[0], stops[stops.length - 1]];
  const from = event.shiftKey ? first : last;
  if (document.activeElement !== from && document.activeElement !== dialog) return;
  event.preventDefault();
  /** @type {HTMLElement | undefined} */ (event.shiftKey ? last : first)?.focus();
}
