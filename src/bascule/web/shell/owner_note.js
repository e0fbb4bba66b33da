/** Says that a machine takes something from its own person only, and what to do: in the place of an offer. */

import { h } from '../js/dom.js';
import { icon } from '../js/icons.js';
import { LET_HUB, onlyThereWords } from './owner_only.js';
import { popover } from './parts.js';

/** @typedef {import('./state.js').Device} Device */

/**
 * @param {Device} device
 * @param {string} what it takes there only
 */
export const ownerNote = (device, what) =>
  h(
    'div',
    { class: 'owner-note', 'data-key': 'owner-note', role: 'note' },
    h('p', null, icon('info', 14), h('span', null, onlyThereWords(device, what))),
    h('p', { class: 'command-line' }, h('code', null, LET_HUB)),
  );

/**
 * In the place of the buttons that the machine would refuse: a press explains.
 * @param {Device} device
 * @param {string} label
 * @param {string} what
 */
export const ownerButton = (device, label, what) =>
  h(
    'button',
    {
      type: 'button',
      class: 'button quiet owner-only',
      'data-key': 'owner-only',
      'aria-haspopup': 'dialog',
      onclick: (/** @type {On} */ event) =>
        void popover(event.currentTarget, h('div', { class: 'link-card' }, ownerNote(device, what)), label),
    },
    icon('info', 14),
    label,
  );
