/** A file's diff in the right panel: one column or two, and a form under the line a person remarks on. */

import { h } from '../../js/dom.js';
import { highlighted, languageOf } from '../../js/highlight.js';
import { icon } from '../../js/icons.js';
import { sidesOf } from '../../js/sides.js';
import { visible } from '../../js/visible.js';

/** @typedef {import('../../js/diff.js').DiffLine} DiffLine */
/** @typedef {import('../composer/comments.js').Comment} Comment */

const SIGNS = { add: '+', del: '−', same: '', head: '' };
const CLASSES = {
  add: 'diff-line is-added',
  del: 'diff-line is-deleted',
  same: 'diff-line',
  head: 'diff-line is-head',
};
const SPOKEN = { add: 'added', del: 'removed', same: null, head: null };
const MAX_LINES = 1500;

/**
 * @typedef {{
 *   path: string,
 *   lines: DiffLine[],
 *   split: boolean,
 *   all: boolean,
 *   at: number | null,
 *   comments: Comment[],
 *   mayComment: boolean,
 *   onLine: (n: number | null) => void,
 *   onComment: (line: DiffLine, text: string) => void,
 *   onAll: () => void,
 * }} Pane
 */

/** @param {Pane} pane */
export function diffPane(pane) {
  const lines = pane.all ? pane.lines : pane.lines.slice(0, MAX_LINES);
  const left = pane.lines.length - lines.length;
  return [
    h(
      'div',
      {
        class: `diff ${pane.split ? 'is-double' : ''}`,
        role: 'group',
        'aria-label': `Changed lines of ${visible(pane.path)}`,
        tabindex: 0,
        'data-key': `${pane.path} ${pane.split}`,
      },
      pane.split ? twoColumns(lines, pane) : lines.flatMap((line, n) => [row(line, n, pane), ...below(line, n, pane)]),
    ),
    left > 0 && h('button', { type: 'button', class: 'button quiet', onclick: pane.onAll }, `Show ${left} more lines`),
  ];
}

/**
 * @param {DiffLine} line
 * @param {number} n
 * @param {Pane} pane
 */
const row = (line, n, pane) =>
  h(
    'div',
    { class: CLASSES[line.kind], 'aria-label': SPOKEN[line.kind] },
    number(line, n, pane),
    h('span', { class: 'diff-line__sign', 'aria-hidden': 'true' }, SIGNS[line.kind]),
    code(line, pane),
  );

/**
 * @param {DiffLine} line
 * @param {Pane} pane
 */
const code = (line, pane) =>
  h(
    'code',
    null,
    line.kind === 'head' ? visible(line.text) : highlighted(visible(line.text || ' '), languageOf(pane.path)),
  );

/**
 * The number of a line is the button that remarks on it.
 * @param {DiffLine} line
 * @param {number} n
 * @param {Pane} pane
 */
function number(line, n, pane) {
  const text = line.line === null ? '' : String(line.line);
  if (line.kind === 'head' || !pane.mayComment) return h('span', { class: 'line-number' }, text);
  return h(
    'button',
    {
      type: 'button',
      class: 'line-number',
      title: 'Comment on this line',
      'aria-label': `Comment on line ${text || n + 1}`,
      onclick: () => pane.onLine(pane.at === n ? null : n),
    },
    text || '·',
  );
}

/** @param {DiffLine} line */
const sideOf = (line) => (line.kind === 'del' ? 'old' : 'new');

/**
 * What stands under a line: remarks made on it, and the form for one.
 * @param {DiffLine} line
 * @param {number} n
 * @param {Pane} pane
 */
function below(line, n, pane) {
  const made =
    line.kind === 'head'
      ? []
      : pane.comments.filter(
          (comment) =>
            comment.path === pane.path &&
            comment.line === line.line &&
            comment.side === sideOf(line) &&
            comment.code === line.text,
        );
  return [
    ...made.map((comment) =>
      h('p', { class: 'line-comment' }, icon('chat', 14), h('span', null, visible(comment.text))),
    ),
    ...(pane.at === n ? [form(line, pane)] : []),
  ];
}

/**
 * @param {DiffLine} line
 * @param {Pane} pane
 */
function form(line, pane) {
  const done = (/** @type {HTMLTextAreaElement} */ field) => {
    if (field.value.trim()) pane.onComment(line, field.value.trim());
  };
  return h(
    'form',
    {
      class: 'line-comment-form',
      'data-key': 'remark',
      onsubmit: (/** @type {On<HTMLFormElement>} */ event) => {
        event.preventDefault();
        done(/** @type {HTMLTextAreaElement} */ (event.currentTarget.querySelector('textarea')));
      },
    },
    h('textarea', {
      class: 'input',
      rows: 2,
      'aria-label': 'Comment',
      placeholder: 'Say what should change here',
      maxlength: 4000,
      onkeydown: (/** @type {On<HTMLTextAreaElement, KeyboardEvent>} */ event) => {
        if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
          event.preventDefault();
          done(event.currentTarget);
        }
        if (event.key === 'Escape') {
          event.stopPropagation();
          pane.onLine(null);
        }
      },
    }),
    h('button', { type: 'submit', class: 'button is-small line' }, 'Add comment'),
    h('button', { type: 'button', class: 'button is-small quiet', onclick: () => pane.onLine(null) }, 'Cancel'),
  );
}

/**
 * @param {DiffLine[]} lines
 * @param {Pane} pane
 */
function twoColumns(lines, pane) {
  return sidesOf(lines).flatMap(({ left, right }) => {
    if (left?.kind === 'head')
      return [h('div', { class: 'diff-line is-head' }, h('span'), h('span'), code(left, pane))];
    const n = lines.indexOf(/** @type {DiffLine} */ (right ?? left));
    const m = left && left !== right ? lines.indexOf(left) : n;
    return [
      h('div', { class: 'diff-columns' }, half(left, m, pane), half(right, n, pane)),
      ...(left && left !== right ? below(left, m, pane) : []),
      ...(right ? below(right, n, pane) : []),
    ];
  });
}

/**
 * @param {DiffLine | null} line
 * @param {number} n
 * @param {Pane} pane
 */
const half = (line, n, pane) =>
  line
    ? h('div', { class: CLASSES[line.kind], 'aria-label': SPOKEN[line.kind] }, number(line, n, pane), code(line, pane))
    : h('div', { class: 'diff-line none' });
