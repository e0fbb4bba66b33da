/** The folders of a session that a person opened, level by level, and the file in view. */

/** @typedef {import('../app.js').App} App */
/** @typedef {{name: string, kind: string, size: number}} Item */
/** @typedef {{items: Item[], cut: boolean, problem: string} | 'asked'} Level */
/** @typedef {{path: string, size: number, binary: boolean, cut: boolean, text: string, problem: string}} Shown */

const MAX_FITTING = 60;

/**
 * The lines of a file, without the empty line after a last newline, and without carriage returns.
 * @param {string} text
 */
export function linesOfText(text) {
  const lines = text.split('\n');
  if (lines.length > 1 && lines.at(-1) === '') lines.pop();
  return lines.map((line) => line.replace(/\r$/, ''));
}

export class FileTree {
  /**
   * @param {App} app
   * @param {string} id of the session
   * @param {() => void} changed
   */
  constructor(app, id, changed) {
    this.app = app;
    this.id = id;
    this.changed = changed;
    /** By folder. @type {Map<string, Level>} */
    this.levels = new Map();
    /** @type {Set<string>} */
    this.open = new Set();
    /** @type {Shown | null} */
    this.shown = null;
    this.chosen = '';
    this.line = 0; // the one to show of the file in view
    this.filter = '';
    /** What fits the filter; null while it is asked for. @type {string[] | null} */
    this.fitting = null;
    this.asked = 0;
    void this.read('');
  }

  /** @param {string} text letters of a path */
  async find(text) {
    this.filter = text;
    this.fitting = null;
    const mine = ++this.asked;
    this.changed();
    if (!text.trim()) return;
    const paths = await this.app.api
      .findFiles(this.id, { q: text.trim(), limit: MAX_FITTING })
      .then((found) => found.paths)
      .catch(() => []);
    if (mine !== this.asked) return;
    this.fitting = paths;
    this.changed();
  }

  /** @param {string} path */
  async read(path) {
    if (!this.levels.has(path)) this.levels.set(path, 'asked');
    try {
      const list = await this.app.api.files(this.id, { path });
      this.levels.set(path, { items: list.items, cut: list.cut, problem: '' });
    } catch (error) {
      this.levels.set(path, { items: [], cut: false, problem: /** @type {Error} */ (error).message });
    }
    this.changed();
  }

  /**
   * @param {string} path
   * @param {number} [line] to show first
   */
  async show(path, line = 0) {
    this.chosen = path;
    this.line = line;
    this.changed();
    const shown = await this.app.api.file(this.id, { path }).then(
      (file) => ({ ...file, problem: '' }),
      (/** @type {Error} */ { message }) => ({ path, size: 0, binary: false, cut: false, text: '', problem: message }),
    );
    if (this.chosen === path) this.shown = shown;
    this.changed();
  }

  close() {
    this.shown = null;
    this.chosen = '';
    this.changed();
  }

  /** @param {string} path */
  toggle(path) {
    if (!this.open.delete(path)) {
      this.open.add(path);
      void this.read(path);
    }
    this.changed();
  }

  readAgain() {
    for (const path of ['', ...this.open]) void this.read(path);
    if (this.chosen) void this.show(this.chosen);
  }
}
