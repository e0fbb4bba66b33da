/** Files in a tool call: what was read of one, and what was changed. */

import { editsIn, patchLines } from '../js/diff.js';
import { copyButton } from '../js/copy_button.js';
import { h } from '../js/dom.js';
import { count, nearPath } from '../js/format.js';
import { highlighted, languageOf } from '../js/highlight.js';
import { diffView } from '../js/lines.js';
import { isWhole } from '../js/json.js';
import { sanitize } from '../js/visible.js';
import { fileLines } from './results.js';
import { exact, plain } from './shown.js';

/** @typedef {import('../js/types.d.ts').ToolEntry} ToolEntry */
/** @typedef {import('./view.js').View} View */

const MAX_LINES = 400;

/**
 * @param {ToolEntry} tool
 * @param {Record<string, unknown>} input
 * @param {View} view
 */
export function fileView(tool, input, view) {
  const path = String(input.file_path ?? input.path ?? tool.locations[0]?.path ?? '');
  const begins = isWhole(input.offset) ? input.offset : (tool.locations[0]?.line ?? null);
  const all = fileLines(tool.output, begins);
  const lines = all.slice(0, MAX_LINES);
  const text = lines.map((line) => line.text).join('\n');
  return h(
    'div',
    { class: 'tool__output-frame' },
    h(
      'div',
      { class: 'tool__output code nums', tabindex: 0, role: 'group', 'aria-label': `Text of ${plain(path)}` },
      lines.some((line) => line.line !== null) &&
        h('pre', { class: 'line-gutter', 'aria-hidden': 'true' }, lines.map((line) => line.line ?? '').join('\n')),
      h('pre', null, highlighted(sanitize(text), languageOf(path))),
    ),
    all.length > lines.length &&
      h('p', { class: 'fname' }, `${count(all.length - lines.length, 'more line')} of it were read.`),
    copyButton('Copy', () => view.ask.copy(all.map((one) => one.text).join('\n'))),
  );
}

/**
 * @param {ToolEntry} tool
 * @param {View} view
 * @returns {Node[]}
 */
export function diffsOf(tool, view) {
  const files = tool.diffs.length
    ? tool.diffs.map((diff) => ({ path: diff.path, lines: patchLines(diff.patch) }))
    : editsIn(tool.input);
  return files.flatMap(({ path, lines }) => {
    const language = languageOf(path);
    const shown = lines.slice(0, MAX_LINES);
    return [
      files.length > 1 ? h('p', { class: 'fname' }, exact(nearPath(path, view.cwd))) : null,
      diffView(
        shown.map((line) => (line.kind === 'head' ? { ...line, text: plain(line.text) } : line)),
        (text) => highlighted(sanitize(text), language),
      ),
      lines.length > shown.length
        ? h(
            'p',
            { class: 'fname' },
            `${count(lines.length - shown.length, 'more line')} of this change can be seen under View changes.`,
          )
        : null,
    ].filter((node) => node !== null);
  });
}
