/** All keys of the page, on one sheet. */

import { h, iconButton } from '../../js/dom.js';
import { table } from '../../js/tables.js';
import { keyCap, keyName } from '../parts.js';

/** @type {[string, [string, string][]][]} */
const KEYS = [
  [
    'Anywhere',
    [
      ['Ctrl K', 'Search and commands'],
      ['N', 'New session'],
      ['G I', 'Go to the inbox'],
      ['Alt 1–9', 'Go to a tab'],
      ['Alt W', 'Close the tab'],
      ['Ctrl B', 'Show or hide the sidebar'],
      ['Ctrl I', 'Go to the text field'],
      ['?', 'All keys'],
    ],
  ],
  [
    'Inbox',
    [
      ['J', 'Next'],
      ['K', 'Previous'],
      ['O', 'Open the session'],
    ],
  ],
  [
    'In a session',
    [
      ['Enter', 'Send'],
      ['⇧ Enter', 'New line'],
      ['Esc Esc', 'Stop the turn'],
      ['↑', 'Edit the last message in the queue'],
      ['Alt ↑ ↓', 'Go to your previous or next message'],
      ['Ctrl F', 'Find in this conversation'],
      ['Ctrl P', 'Open the conversation to print it'],
      ['Ctrl J', 'Show or hide changes and files'],
      ['F2', 'Rename the session'],
      ['Ctrl .', 'Go to the request'],
    ],
  ],
  [
    'In a request',
    [
      ['A', 'Allow once'],
      ['S', 'Allow in this session'],
      ['D', 'Deny'],
      ['⇧ D', 'Deny with a reason'],
      ['1–9', 'Pick an answer'],
    ],
  ],
];

const NOTES = table({
  Anywhere: 'Single letters work outside text fields.',
  'In a request': 'After Ctrl . or a click in the request; also from the session list and in the inbox.',
});

/** @param {() => void} close */
export const keySheet = (close) => [
  h('header', { class: 'key-sheet__head' }, h('h2', null, 'All keys'), iconButton('x', 'Close', { onclick: close })),
  h(
    'div',
    { class: 'key-sheet', tabindex: 0 },
    KEYS.map(([group, keys]) =>
      h(
        'section',
        { 'aria-label': group },
        h('h3', null, group),
        NOTES[group] && h('p', { class: 'hint' }, keyName(NOTES[group])),
        h(
          'dl',
          null,
          keys.map(([cap, does]) => h('div', null, h('dt', null, does), h('dd', null, keyCap(cap)))),
        ),
      ),
    ),
  ),
];
