/** The text of one file, with its numbers; nothing is written. */

import { copyButton } from '../../js/copy_button.js';
import { h, iconButton } from '../../js/dom.js';
import { sizeWords } from '../../js/format.js';
import { highlighted, languageOf } from '../../js/highlight.js';
import { icon } from '../../js/icons.js';
import { visible } from '../../js/visible.js';
import { linesOfText } from './file_tree.js';

/** @typedef {import('./file_tree.js').Shown} Shown */

/**
 * @param {Shown} shown
 * @param {number} line to show first; 0 for the beginning
 * @param {{mention: (() => void) | null, copy: () => unknown, close: () => void}} does
 */
export function fileView(shown, line, does) {
  const name = visible(shown.path.split('/').pop() ?? '');
  return h(
    'section',
    { class: 'file-view', 'aria-label': name, 'data-key': `file ${shown.path}` },
    h(
      'p',
      { class: 'panel__file' },
      h('b', { title: visible(shown.path) }, name),
      h('small', null, sizeWords(shown.size)),
      h('span', { class: 'spacer' }),
      does.mention && iconButton('at', 'Mention it in the message', { class: 'is-small', onclick: does.mention }),
      !shown.binary && copyButton('Copy the text', does.copy, { class: 'is-small' }),
      iconButton('x', 'Close the file', { class: 'is-small', onclick: does.close }),
    ),
    fileBody(shown, line),
    shown.cut && h('p', { class: 'panel__tip' }, icon('info', 14), h('span', null, 'Only the first 1 MB is shown.')),
  );
}

/**
 * @param {Shown} shown
 * @param {number} line
 */
function fileBody(shown, line) {
  if (shown.problem) return h('p', { class: 'panel__tip bad' }, icon('alert', 14), h('span', null, shown.problem));
  if (shown.binary)
    return h(
      'p',
      { class: 'panel__tip' },
      icon('info', 14),
      h('span', null, 'This file is not text, so it is not shown.'),
    );
  const lines = linesOfText(shown.text);
  return h(
    'div',
    { class: 'file-view__text', tabindex: 0, role: 'group', 'aria-label': 'Text' },
    h('pre', { class: 'line-numbers', 'aria-hidden': 'true' }, numbers(lines.length, line)),
    h('pre', null, h('code', null, highlighted(visible(lines.join('\n')), languageOf(shown.path)))),
  );
}

/**
 * The numbers of the lines, the one that was asked for marked.
 * @param {number} count
 * @param {number} line
 */
function numbers(count, line) {
  const all = (/** @type {number} */ from, /** @type {number} */ to) =>
    Array.from({ length: Math.max(0, to - from) }, (_, n) => `${from + n}\n`).join('');
  if (!line || line > count) return all(1, count + 1);
  return [all(1, line), h('b', { class: 'is-here' }, `${line}\n`), all(line + 1, count + 1)];
}
