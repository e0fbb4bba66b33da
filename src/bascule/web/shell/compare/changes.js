/** What one agent changed, file by file, against the commit everybody began from. */

import { patchLines } from '../../js/diff.js';
import { h } from '../../js/dom.js';
import { highlighted, languageOf } from '../../js/highlight.js';
import { icon } from '../../js/icons.js';
import { diffView, plusMinus } from '../../js/lines.js';
import { visible } from '../../js/visible.js';
import { count } from '../../js/format.js';
import { table } from '../../js/tables.js';

const LETTERS = table({ added: 'A', deleted: 'D', modified: 'M', untracked: 'A', conflict: 'C' });
const OPEN_AT_FIRST = 5;

/** @param {import('../../js/types.d.ts').ContestantChanges | undefined} found */
export const sumOf = (found) =>
  (found?.files ?? []).reduce(
    (sum, file) => ({
      added: sum.added + file.added,
      removed: sum.removed + file.removed,
    }),
    { added: 0, removed: 0 },
  );

/** @param {import('../../js/types.d.ts').ContestantChanges | undefined} found */
export function changesView(found) {
  if (!found) return h('p', { class: 'hint is-padded' }, 'Loading changes');
  return h(
    'div',
    { class: 'compare-column__files' },
    found.problem && h('p', { class: 'error-message' }, icon('alert', 14), visible(found.problem)),
    !found.files.length && !found.problem && h('p', { class: 'hint is-padded' }, 'Nothing has changed yet.'),
    found.files.map((file, n) =>
      h(
        'details',
        { 'data-key': file.path, ...(n < OPEN_AT_FIRST ? { open: true } : {}) },
        h(
          'summary',
          null,
          h('span', { class: `file-status file-status-${LETTERS[file.status] ?? 'M'}` }, LETTERS[file.status] ?? 'M'),
          h('code', { title: visible(file.path) }, visible(file.path)),
          plusMinus(file.added, file.removed),
        ),
        body(file),
      ),
    ),
    found.cut && h('p', { class: 'hint is-padded' }, 'There are more files than are shown here.'),
    found.ignored > 0 &&
      h(
        'p',
        { class: 'hint is-padded' },
        `${count(found.ignored, 'file or folder', 'files or folders')} that git ignores ` +
          `${found.ignored === 1 ? 'is' : 'are'} not part of this.`,
      ),
  );
}

/** @param {import('../../js/types.d.ts').FileChange} file */
function body(file) {
  if (file.binary) return h('p', { class: 'hint is-padded' }, 'Not text.');
  if (file.cut) return h('p', { class: 'hint is-padded' }, 'Too large to show here.');
  if (!file.patch) return h('p', { class: 'hint is-padded' }, 'No lines changed.');
  return diffView(patchLines(file.patch), (text) => highlighted(visible(text), languageOf(file.path)));
}
