/** What a session changed, as far as this page knows: read when it is in view, kept, and read again after edits. */

import { errorOf } from '../../js/json.js';
import { patchLines } from '../../js/diff.js';
import { turnsOf } from '../../js/turns.js';
import { visible } from '../../js/visible.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../../js/turns.js').FileRow} FileRow */
/** @typedef {import('../../js/turns.js').Turn} Turn */
/** @typedef {string | number} Scope 'session', 'git' or the number of a turn's prompt */
/**
 * @typedef {{
 *   branch: string | null,
 *   gitProblem: string | null,
 *   cut: boolean,
 *   files: FileRow[],
 *   turns: Turn[],
 *   problem: string,
 * }} Known
 */

const TURN_ENTRIES = 500;
/** @type {Known} */
const NOTHING = { branch: null, gitProblem: null, cut: false, files: [], turns: [], problem: '' };

/**
 * @param {Known} known
 * @param {Scope} scope
 * @returns {FileRow[]}
 */
export function filesIn(known, scope) {
  if (typeof scope === 'number') return known.turns.find((turn) => turn.seq === scope)?.files ?? [];
  const other = scope === 'git' ? 'session' : 'git';
  return known.files.filter((file) => file.source !== other);
}

/**
 * @param {Known} known
 * @param {Scope} scope
 */
export function scopeWords(known, scope) {
  if (scope === 'session') return 'This session';
  if (scope === 'git') return `Since the last commit${known.branch ? `, ${visible(known.branch)}` : ''}`;
  return `Turn: ${visible(known.turns.find((turn) => turn.seq === scope)?.text ?? '').slice(0, 40)}`;
}

/** @param {FileRow[]} files */
export const sumOf = (files) =>
  files.reduce((total, file) => ({ added: total.added + file.added, removed: total.removed + file.removed }), {
    added: 0,
    removed: 0,
  });

/**
 * The lines of a file's edits, one after the other.
 * @param {FileRow} file
 * @returns {import('../../js/diff.js').DiffLine[]}
 */
export const linesOf = (file) =>
  file.patches.flatMap((patch, n) => [
    ...(n ? [/** @type {const} */ ({ kind: 'head', line: null, text: '⋯' })] : []),
    ...patchLines(patch),
  ]);

export class KnownChanges {
  /**
   * @param {App} app
   * @param {() => void} changed
   */
  constructor(app, changed) {
    this.app = app;
    this.changed = changed;
    /** By session. @type {Map<string, Known>} */
    this.known = new Map();
    /** @type {Set<string>} */
    this.asking = new Set();
  }

  /** @param {string} id */
  get(id) {
    return this.known.get(id);
  }

  /**
   * @param {string} id
   * @param {string} cwd
   */
  async load(id, cwd) {
    if (this.asking.has(id)) return;
    this.asking.add(id);
    try {
      this.known.set(id, await this.#read(id, cwd));
    } catch (error) {
      const { code, message } = errorOf(error);
      const problem = code === 'FORBIDDEN' ? 'This link shows the conversation, not the files.' : message;
      this.known.set(id, { ...(this.known.get(id) ?? NOTHING), problem });
    } finally {
      this.asking.delete(id);
      this.changed();
    }
  }

  /**
   * @param {string} id
   * @param {string} cwd
   * @returns {Promise<Known>}
   */
  async #read(id, cwd) {
    const { api } = this.app;
    const [changes, page] = await Promise.all([api.changes(id), api.entries(id, { limit: TURN_ENTRIES })]);
    return {
      branch: changes.branch,
      gitProblem: changes.gitProblem,
      cut: changes.cut,
      files: changes.files.map((file) => ({ ...file, patches: file.patch ? [file.patch] : [] })),
      turns: turnsOf(page.entries, cwd),
      problem: '',
    };
  }
}
