/** What each turn of a conversation changed, read from its entries. Pure. */

import { isOwnPlan, nearPath } from './format.js';

/**
 * @typedef {{
 *   path: string,
 *   status: string,
 *   added: number,
 *   removed: number,
 *   patches: string[],
 *   cut: boolean,
 *   binary: boolean,
 *   source: string,
 *   staged?: boolean,
 * }} FileRow
 */
/** @typedef {{seq: number, text: string, at: string, files: FileRow[]}} Turn */

/**
 * Each prompt that led to edits, with those edits by file; the oldest first.
 * @param {import('./types.d.ts').WireEntry[]} entries
 * @param {string} cwd
 * @returns {Turn[]}
 */
export function turnsOf(entries, cwd) {
  /** @type {Turn[]} */
  const turns = [];
  for (const entry of entries) {
    if (entry.kind === 'prompt')
      turns.push({ seq: entry.first_seq, text: entry.text.split('\n')[0], at: entry.at, files: [] });
    if (entry.kind !== 'tool' || entry.status !== 'done' || !turns.length) continue;
    const { files } = turns[turns.length - 1];
    for (const diff of entry.diffs ?? []) {
      if (isOwnPlan(diff.path, cwd)) continue;
      const path = nearPath(diff.path, cwd);
      let file = files.find((candidate) => candidate.path === path);
      if (!file)
        files.push(
          (file = {
            path,
            status: 'edited',
            added: 0,
            removed: 0,
            patches: [],
            cut: false,
            binary: false,
            source: 'session',
          }),
        );
      file.added += diff.added ?? 0;
      file.removed += diff.removed ?? 0;
      file.patches.push(diff.patch);
    }
  }
  return turns.filter((turn) => turn.files.length);
}
