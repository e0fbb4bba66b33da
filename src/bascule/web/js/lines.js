/** Drawing diff lines, the same in the well and in a request; colouring the code is the caller's. */

import { h } from './dom.js';

/** @typedef {import('./diff.js').DiffLine} DiffLine */

const SIGNS = { add: '+', del: '−', same: '', head: '' };
const CLASSES = {
  add: 'diff-line is-added',
  del: 'diff-line is-deleted',
  same: 'diff-line',
  head: 'diff-line is-head',
};
const SPOKEN = { add: 'added', del: 'removed', same: null, head: null };

/**
 * @param {DiffLine[]} lines
 * @param {(text: string) => Node | string} [paint]
 */
export function diffView(lines, paint = (text) => text) {
  return h(
    'div',
    { class: 'diff', role: 'group', 'aria-label': 'Changed lines', tabindex: 0 },
    lines.map((line) =>
      h(
        'div',
        { class: CLASSES[line.kind], 'aria-label': SPOKEN[line.kind] },
        h('span', { class: 'line-number' }, line.line === null ? '' : String(line.line)),
        h('span', { class: 'diff-line__sign', 'aria-hidden': 'true' }, SIGNS[line.kind]),
        h('code', null, line.kind === 'head' ? line.text : paint(line.text || ' ')),
      ),
    ),
  );
}

/**
 * @param {number} added
 * @param {number} removed
 */
export const plusMinus = (added, removed) =>
  h(
    'span',
    { class: 'line-counts', 'aria-label': `${added} added, ${removed} removed`, role: 'img' },
    h('b', { class: 'line-counts__added' }, `+${added}`),
    h('b', { class: 'line-counts__removed' }, `−${removed}`),
  );
