/** The pieces of the Changes tab that are drawn from a file alone: its row, and what stands there without lines. */

import { h } from '../../js/dom.js';
import { nearPath } from '../../js/format.js';
import { icon } from '../../js/icons.js';
import { plusMinus } from '../../js/lines.js';
import { table } from '../../js/tables.js';
import { visible } from '../../js/visible.js';

/** @typedef {import('../../js/turns.js').FileRow} FileRow */

/** @type {Record<string, [string, string]>} */
const BADGES = table({
  modified: ['M', 'changed'],
  edited: ['M', 'changed'],
  added: ['A', 'new'],
  untracked: ['A', 'new'],
  deleted: ['D', 'deleted'],
  conflict: ['!', 'in conflict'],
});

/**
 * @param {FileRow} file
 * @param {boolean} selected
 * @param {string} cwd
 * @param {() => void} pick
 */
export function fileRow(file, selected, cwd, pick) {
  const [letter, word] = BADGES[file.status] ?? BADGES.modified;
  const path = visible(nearPath(file.path, cwd));
  const cut = path.lastIndexOf('/') + 1;
  return h(
    'button',
    {
      type: 'button',
      class: `changed-file ${selected ? 'is-selected' : ''}`,
      'data-key': file.path,
      'aria-pressed': String(selected),
      onclick: pick,
    },
    h(
      'span',
      {
        class: `file-status file-status-${letter === '!' ? 'D' : letter}`,
        title: word,
        'aria-label': word,
        role: 'img',
      },
      letter,
    ),
    h(
      'span',
      { class: 'changed-file__path', title: path },
      h('bdi', null, path.slice(0, cut)),
      h('b', null, path.slice(cut)),
    ),
    file.staged && h('span', { class: 'changed-file__staged', title: 'Staged' }, icon('check', 12)),
    plusMinus(file.added, file.removed),
  );
}

/** In the list's place until it is read. */
export const waitingShapes = () =>
  h(
    'div',
    { class: 'shapes', 'aria-hidden': 'true' },
    [70, 90, 50].map((width) => h('span', { class: `skeleton skeleton--${width}` })),
  );

/**
 * @param {string} text
 * @param {string} [kind]
 */
export const tip = (text, kind = '') =>
  h('p', { class: `panel__tip ${kind}`.trim() }, icon('info', 14), h('span', null, text));

/** @param {FileRow} file */
export function noLines(file) {
  if (file.binary) return tip('This file is not text, so there are no lines to show.');
  return tip(
    file.cut ? 'This change is too large to show here. Its file is in the Files tab.' : 'There are no lines to show.',
  );
}

/**
 * @param {boolean} git whether what git sees is in view
 * @param {string | null} gitProblem
 */
export function noChanges(git, gitProblem) {
  const committed = gitProblem ? visible(gitProblem) : 'No changes since the last commit.';
  return h(
    'div',
    { class: 'center' },
    h(
      'div',
      { class: 'empty-state' },
      icon('diff', 24),
      h('h2', null, 'No files changed yet.'),
      h('p', null, git ? committed : 'Edits of this session will be listed here.'),
    ),
  );
}
