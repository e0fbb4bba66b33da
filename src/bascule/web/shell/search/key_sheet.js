/** All keys of the page, on one sheet. */

import { h, iconButton } from '../../js/dom.js';
import { keyCap } from '../parts.js';

const KEYS = [
  ['Ctrl K', 'Search, commands'],
  ['N', 'New session'],
  ['G I', 'Inbox'],
  ['Alt 1–9', 'Tab'],
  ['Ctrl B', 'Sidebar'],
  ['Ctrl J', 'Changes'],
  ['Alt W', 'Close tab'],
  ['Alt ↑ ↓', 'Your messages'],
  ['Enter', 'Send'],
  ['⇧ Enter', 'New line'],
  ['Esc Esc', 'Interrupt'],
  ['Ctrl .', 'Focus the request'],
  ['A', 'Allow once'],
  ['S', 'Allow in session'],
  ['D', 'Deny'],
  ['⇧ D', 'Deny with a reason'],
  ['1–9', 'Pick an option'],
  ['J K O', 'Move, open (inbox)'],
  ['↑', 'Edit last queued'],
  ['Ctrl F', 'Find here'],
  ['?', 'All keys'],
];

/** @param {() => void} close */
export const keySheet = (close) => [
  h('header', { class: 'key-sheet__head' }, h('h2', null, 'All keys'), iconButton('x', 'Close', { onclick: close })),
  h(
    'dl',
    { class: 'key-sheet' },
    KEYS.map(([keys, does]) => h('div', null, h('dt', null, does), h('dd', null, keyCap(keys)))),
  ),
];
