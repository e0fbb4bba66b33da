/** An entry that can't be drawn, as the text it came as. */

import { h } from '../js/dom.js';
import { icon } from '../js/icons.js';
import { visible } from '../js/visible.js';

const MAX_CHARACTERS = 64 * 1024;

/** @param {import('../js/types.d.ts').Entry[]} entries */
export function rawEntries(entries) {
  let text = '';
  try {
    text = entries.map((entry) => JSON.stringify(entry, null, 1)).join('\n');
  } catch (error) {
    text = `The raw text can’t be shown either: ${/** @type {Error} */ (error).message}`;
  }
  return h(
    'details',
    { class: 'entry-line stderr-line' },
    h(
      'summary',
      null,
      icon('alert'),
      h('span', { class: 'entry-line__verb' }, 'This could not be drawn'),
      h('span', { class: 'entry-line__words' }, 'Open it to see it raw'),
      h('span', { class: 'disclosure' }, icon('right', 12)),
    ),
    h('pre', { class: 'tool__output', tabindex: 0 }, visible(text.slice(0, MAX_CHARACTERS))),
  );
}
