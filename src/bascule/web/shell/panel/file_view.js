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
 * @param {{mention: (() => void) | null, copy: () => unknown, close: () => void}} does
 */
export function fileView(shown, does) {
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
    fileBody(shown),
    shown.cut && h('p', { class: 'panel__tip' }, icon('info', 14), h('span', null, 'Only the first 1 MB is shown.')),
  );
}

/** @param {Shown} shown */
function fileBody(shown) {
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
    h('pre', { class: 'line-numbers', 'aria-hidden': 'true' }, lines.map((_, n) => n + 1).join('\n')),
    h('pre', null, h('code', null, highlighted(visible(lines.join('\n')), languageOf(shown.path)))),
  );
}
