/** How far each frame was fed: what comes while its page is being read waits, and nothing is fed twice. */

/** @typedef {import('../../js/types.d.ts').Logged} Logged */

export class FrameProgress {
  /** @type {Map<string, number>} */
  #fed = new Map();
  /** What came while a page is being read. @type {Map<string, Logged[]>} */
  #waiting = new Map();

  /** @param {string} id */
  has(id) {
    return this.#fed.has(id) || this.#waiting.has(id);
  }

  /**
   * Its page is being read from here on.
   * @param {string} id
   */
  begin(id) {
    this.#waiting.set(id, []);
  }

  /**
   * Its page was read up to this number: what came meanwhile and is not in it.
   * @param {string} id
   * @param {number} seq
   */
  read(id, seq) {
    const came = this.#waiting.get(id) ?? [];
    this.#waiting.delete(id);
    this.#fed.set(id, seq);
    return this.fresh(id, came);
  }

  /**
   * Those of these events that the frame is to be fed now.
   * @param {string} id
   * @param {Logged[]} entries
   * @returns {Logged[]}
   */
  fresh(id, entries) {
    const waiting = this.#waiting.get(id);
    waiting?.push(...entries);
    const fed = this.#fed.get(id);
    if (waiting || fed === undefined) return [];
    const later = entries.filter((entry) => entry.seq > fed);
    this.#fed.set(id, later.at(-1)?.seq ?? fed);
    return later;
  }

  /** @param {string} id */
  forget(id) {
    this.#fed.delete(id);
    this.#waiting.delete(id);
  }
}
