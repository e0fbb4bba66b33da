/**
 * The part of a conversation this frame holds: some entries in a row, whether they reach the live end, and which
 * neighbours have been asked for. Bounded: what is far from the reader is forgotten, and asked for again. No elements.
 */

import { filled, fold, openIn, transcript } from '../js/reduce.js';

/**
 * @typedef {import('../js/reduce.js').Transcript} Transcript
 * @typedef {import('../js/types.d.ts').Logged} Logged
 * @typedef {{before?: number, after?: number, around?: number}} Place none of them: the newest entries
 * @typedef {'older' | 'newer' | 'here'} Side
 * @typedef {import('../js/frame_messages.d.ts').Page} Page
 */

export const MAX_ENTRIES = 400;
const SLACK = 50; // forgetting one by one would move the page at every event

/**
 * A page from further up or down, put beside the window. What both hold is taken from the window.
 * @param {Transcript} state
 * @param {Page} page
 * @param {'older' | 'newer'} side
 * @returns {Transcript}
 */
export function joined(state, page, side) {
  const held = new Set(state.entries.map((entry) => entry.first_seq));
  const fresh = page.entries.map(filled).filter((entry) => !held.has(entry.first_seq));
  const entries = side === 'older' ? [...fresh, ...state.entries] : [...state.entries, ...fresh];
  const ends = side === 'older' ? { before: page.before } : { after: page.after ?? null };
  return { ...state, ...ends, entries, open: { ...openIn(fresh), ...state.open }, changed: [] };
}

/**
 * Forget entries at one end; where they can be asked for again is kept.
 * @param {Transcript} state
 * @param {number} most
 * @param {'older' | 'newer'} side the end that is forgotten
 * @returns {Transcript}
 */
export function trimmed(state, most, side) {
  if (state.entries.length <= most) return state;
  const entries = side === 'older' ? state.entries.slice(-most) : state.entries.slice(0, most);
  const ends = side === 'older' ? { before: entries[0].first_seq } : { after: entries[most - 1].first_seq };
  return { ...state, ...ends, entries, changed: [] };
}

export class Window {
  /** @param {(place: Place, number: number) => void} ask */
  constructor(ask) {
    this.ask = ask;
    this.number = 0;
    this.state = transcript(0, [], null);
    /**
     * What has been asked for, and the events that came since: the answer may be older than they are.
     * @type {{number: number, side: Side, place: Place, since: Logged[]} | null}
     */
    this.asked = null;
  }

  /** Whether new events appear at its end. */
  get live() {
    return this.state.after === null;
  }

  get entries() {
    return this.state.entries;
  }

  /**
   * A whole new window, as the shell sends it.
   * @param {Page} page
   */
  open(page) {
    this.asked = null;
    this.state = transcript(page.seq, page.entries, page.before, page.after ?? null);
  }

  /** @param {Logged[]} rows */
  events(rows) {
    this.asked?.since.push(...rows);
    this.state = fold(this.state, rows);
  }

  /**
   * The answer to what was asked for.
   * @param {number} number of the question; an older one has been overtaken
   * @param {Page | null} page null when there was none, so that it can be asked for again
   * @returns {Side | null} what it was, when it is here now
   */
  answered(number, page) {
    const asked = this.asked;
    if (asked?.number !== number) return null;
    this.asked = null;
    if (!page) return null;
    if (asked.side === 'here') {
      this.state = transcript(page.seq, page.entries, page.before, page.after ?? null);
      this.state = fold(this.state, asked.since);
    } else {
      const { seq, before, after } = this.state;
      // That end was forgotten while the answer was under way: joining would leave a hole.
      if (asked.side === 'older' ? asked.place.before !== before : asked.place.after !== after) return null;
      const next = joined(this.state, page, asked.side);
      // What happened meanwhile is applied once more, to the entries that are new here.
      this.state = { ...fold({ ...next, seq: 0 }, asked.since), seq };
    }
    return asked.side;
  }

  /**
   * @param {Side} side
   * @param {Place} place
   */
  #want(side, place) {
    if (this.asked && side !== 'here') return false; // another place overtakes what was on its way
    this.asked = { number: ++this.number, side, place, since: [] };
    this.ask(place, this.number);
    return true;
  }

  /** @returns {boolean} whether it was asked for */
  older() {
    return this.state.before !== null && this.#want('older', { before: this.state.before });
  }

  newer() {
    return this.state.after !== null && this.#want('newer', { after: this.state.after });
  }

  latest() {
    return this.#want('here', {});
  }

  /** @param {number} seq */
  around(seq) {
    return this.#want('here', { around: seq });
  }

  /** @param {number} seq whether an entry that begins there, or the one before it, is held */
  holds(seq) {
    const { entries, before, after } = this.state;
    if (!entries.length) return false;
    return (
      (before === null || seq >= entries[0].first_seq) &&
      (after === null || seq <= entries[entries.length - 1].first_seq)
    );
  }

  /**
   * Forget what is furthest from the reader, once there is too much.
   * @param {number} reader the place of the entry they look at
   */
  keepNear(reader) {
    if (this.crowded)
      this.state = trimmed(this.state, MAX_ENTRIES, reader < this.entries.length / 2 ? 'newer' : 'older');
  }

  get crowded() {
    return this.entries.length > MAX_ENTRIES + SLACK;
  }
}

/**
 * The entry that begins at a number, or the nearest one before it.
 * @param {import('../js/types.d.ts').Entry[]} entries
 * @param {number} seq
 */
export const nearest = (entries, seq) => entries.findLast((entry) => entry.first_seq <= seq) ?? entries[0];
