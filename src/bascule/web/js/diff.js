/** Diffs as lines: read from a unified patch, or made from two texts. Pure; drawing is the caller's. */

import { fieldsOf } from './json.js';

/** @typedef {{kind: 'add' | 'del' | 'same' | 'head', line: number | null, text: string}} DiffLine */

/**
 * Lines of unified-diff hunks. Each keeps the number it has on its own side.
 * @param {string} patch
 * @returns {DiffLine[]}
 */
export function patchLines(patch) {
  /** @type {DiffLine[]} */
  const lines = [];
  let left = 0;
  let right = 0;
  const rows = patch.split('\n');
  if (rows.at(-1) === '') rows.pop();
  for (const row of rows) {
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@ ?(.*)$/.exec(row);
    if (hunk) {
      [left, right] = [Number(hunk[1]), Number(hunk[2])];
      if (hunk[3] || lines.length) lines.push({ kind: 'head', line: null, text: hunk[3] || '⋯' });
    } else if (row.startsWith('+')) lines.push({ kind: 'add', line: right++, text: row.slice(1) });
    else if (row.startsWith('-')) lines.push({ kind: 'del', line: left++, text: row.slice(1) });
    else if (row.startsWith('\\')) continue;
    else {
      lines.push({ kind: 'same', line: right, text: row.slice(1) });
      left++;
      right++;
    }
  }
  return lines;
}

const MAX_CELLS = 4_000_000;

/**
 * A line diff of two texts (longest common subsequence, after equal ends are set aside).
 * @param {string} before
 * @param {string} after
 * @returns {DiffLine[]}
 */
export function textLines(before, after) {
  const a = linesOf(before);
  const b = linesOf(after);
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const middleA = a.slice(start, a.length - end);
  const middleB = b.slice(start, b.length - end);
  const same = middleA.length * middleB.length > MAX_CELLS ? [] : common(middleA, middleB);
  /** @type {DiffLine[]} */
  const lines = a.slice(0, start).map((text, n) => ({ kind: 'same', line: n + 1, text }));
  let i = 0;
  let j = 0;
  for (const [x, y] of [...same, [middleA.length, middleB.length]]) {
    for (; i < x; i++) lines.push({ kind: 'del', line: start + i + 1, text: middleA[i] });
    for (; j < y; j++) lines.push({ kind: 'add', line: start + j + 1, text: middleB[j] });
    if (x < middleA.length) {
      lines.push({ kind: 'same', line: start + y + 1, text: middleB[y] });
      i = x + 1;
      j = y + 1;
    }
  }
  for (let n = 0; n < end; n++) lines.push({ kind: 'same', line: b.length - end + n + 1, text: b[b.length - end + n] });
  return lines;
}

/**
 * A last newline ends a line; it does not begin another.
 * @param {string} text
 */
function linesOf(text) {
  const lines = text.split('\n');
  if (lines[lines.length - 1] === '') lines.pop();
  return lines;
}

/**
 * Pairs of places where both hold the same line.
 * @param {string[]} a
 * @param {string[]} b
 * @returns {[number, number][]}
 */
function common(a, b) {
  const width = b.length + 1;
  const table = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      table[i * width + j] =
        a[i] === b[j]
          ? table[(i + 1) * width + j + 1] + 1
          : Math.max(table[(i + 1) * width + j], table[i * width + j + 1]);
    }
  }
  /** @type {[number, number][]} */
  const pairs = [];
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    if (a[i] === b[j]) pairs.push([i++, j++]);
    else if (table[(i + 1) * width + j] >= table[i * width + j + 1]) i++;
    else j++;
  }
  return pairs;
}

/**
 * What an edit tool's input would change, for tools that only say old and new text.
 * @param {unknown} value
 * @returns {{path: string, lines: DiffLine[]}[]}
 */
export function editsIn(value) {
  const input = fieldsOf(value);
  const path = String(input.file_path ?? input.path ?? input.notebook_path ?? '');
  if (Array.isArray(input.edits)) {
    const lines = input.edits
      .map(fieldsOf)
      .flatMap((one, n) => [
        ...(n ? [/** @type {DiffLine} */ ({ kind: 'head', line: null, text: '⋯' })] : []),
        ...unnumbered(String(one.old_string ?? ''), String(one.new_string ?? '')),
      ]);
    return [{ path, lines }];
  }
  if (typeof input.new_string === 'string')
    return [{ path, lines: unnumbered(String(input.old_string ?? ''), input.new_string) }];
  if (typeof input.content === 'string') return [{ path, lines: textLines('', input.content) }];
  return [];
}

/**
 * Where in the file it is is not known.
 * @param {string} before
 * @param {string} after
 */
const unnumbered = (before, after) => textLines(before, after).map((line) => ({ ...line, line: null }));

/** @param {DiffLine[]} lines */
export const counts = (lines) => ({
  added: lines.filter((line) => line.kind === 'add').length,
  removed: lines.filter((line) => line.kind === 'del').length,
});
