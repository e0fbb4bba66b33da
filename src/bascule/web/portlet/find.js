/**
 * Find in this conversation: entry by entry, and place by place inside one; also in what is not loaded, which the
 * server's search names and the window then brings. Marks are highlights, so that no element is touched.
 */

import { hitsIn, matchesIn } from './said.js';

/**
 * @typedef {import('./loaded_entries.js').Window} Window
 * @typedef {import('./view.js').View} View
 * @typedef {import('./scroll.js').Scroll} Scroll
 * @typedef {{
 *   window: Window,
 *   view: View,
 *   scroll: Scroll,
 *   column: HTMLElement,
 *   bring: (seq: number, run: () => void) => void,
 *   tell: (message: import('../js/frame_messages.d.ts').FromFrame) => void,
 * }} Parts
 */

const MAX_RANGES = 2000;
const MAX_REMOTE = 100;
const SETTLING = 4; // frames
const PAUSE = 200; // milliseconds of quiet before the server is asked

export class Find {
  /** @param {Parts} parts */
  constructor(parts) {
    this.parts = parts;
    this.text = '';
    /** @type {number[]} what the server found, outside of the window, too */
    this.remote = [];
    /** @type {{seq: number, place: number} | null} where the reader is: an entry, and which of its matches */
    this.here = null;
    this.further = false; // whether there may be more than anybody named
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
  }

  /**
   * @param {string} text
   * @param {number} step 0 for a new search
   */
  find(text, step) {
    if (text !== this.text || step === 0) this.#begin(text);
    else this.#go(step);
  }

  /** @param {string} text */
  #begin(text) {
    clearTimeout(this.timer);
    Object.assign(this, { text, remote: [], here: null, further: false, timer: undefined });
    CSS.highlights.clear();
    if (!text) {
      this.#report();
      return;
    }
    const { before, after } = this.parts.window.state;
    if (before !== null || after !== null)
      this.timer = setTimeout(() => this.parts.tell({ type: 'search', text }), PAUSE);
    const hits = this.#hits();
    if (hits.length) this.#show(hits[hits.length - 1], -1);
    else this.#report(this.timer !== undefined);
  }

  /**
   * @param {string} text
   * @param {number[] | null} seqs null when this reader may not search, so that pages are read instead
   */
  found(text, seqs) {
    if (text !== this.text || !text) return;
    this.remote = seqs ?? [];
    this.further = seqs === null || seqs.length >= MAX_REMOTE;
    const hits = this.#hits();
    if (this.here) this.#report();
    else if (hits.length) this.#show(hits[hits.length - 1], -1);
    else if (this.further) this.#furtherUp();
    else this.#report();
  }

  /** Entries that hold the text, oldest first: what is loaded is looked at, the rest is the server's word. */
  #hits() {
    const { window } = this.parts;
    const local = hitsIn(window.entries, this.text);
    return [...new Set([...local, ...this.remote.filter((seq) => !window.holds(seq))])].sort((a, b) => a - b);
  }

  /** @param {number} step */
  #go(step) {
    const hits = this.#hits();
    if (!this.here || !hits.length) {
      if (hits.length) this.#show(hits[hits.length - 1], -1);
      else this.#report();
      return;
    }
    const ranges = this.#rangesHere();
    const place = this.here.place + step;
    if (place >= 0 && place < ranges.length) {
      this.here.place = place;
      this.#mark(ranges);
      return;
    }
    const at = hits.indexOf(this.here.seq);
    if (step < 0 && at <= 0 && this.further && this.parts.window.state.before !== null) {
      this.#furtherUp();
      return;
    }
    this.#show(hits[(Math.max(0, at) + step + hits.length) % hits.length], step);
  }

  /** Page by page towards the beginning, until something is found. */
  #furtherUp() {
    const { window, bring } = this.parts;
    const first = window.entries[0]?.first_seq;
    const older = () => this.#hits().filter((seq) => first === undefined || seq < first);
    const text = this.text;
    this.#report(true);
    bring(-1, () => {
      if (text !== this.text) return;
      const hits = older();
      if (hits.length) this.#show(hits[hits.length - 1], -1);
      else if (window.state.before !== null) this.#furtherUp();
      else {
        this.further = false;
        this.#report();
      }
    });
  }

  /**
   * @param {number} seq
   * @param {number} step which end of the entry to begin at
   */
  #show(seq, step) {
    const { window, bring } = this.parts;
    const text = this.text;
    if (!window.holds(seq)) {
      bring(seq, () => {
        if (text === this.text) this.#show(seq, step);
      });
      return;
    }
    this.here = { seq, place: 0 };
    const ranges = this.#rangesHere();
    if (step < 0) this.here.place = Math.max(0, ranges.length - 1);
    this.#mark(ranges);
  }

  #entryHere() {
    return this.parts.window.entries.find((entry) => entry.first_seq === this.here?.seq);
  }

  #rangesHere() {
    const entry = this.#entryHere();
    const element = entry && this.parts.view.reveal(entry, true);
    return element ? rangesOf(element, this.text) : [];
  }

  /** @param {Range[]} ranges of the entry the reader is at */
  #mark(ranges) {
    const { column, scroll, view } = this.parts;
    CSS.highlights.set('found', new Highlight(...rangesOf(column, this.text)));
    const range = ranges[this.here?.place ?? 0];
    const entry = this.#entryHere();
    const element = range?.startContainer.parentElement ?? (entry && view.reveal(entry));
    if (range) CSS.highlights.set('here', new Highlight(range));
    else CSS.highlights.delete('here');
    if (element) scroll.to(element, 'center');
    if (range) this.#settle(range, SETTLING);
    this.#report();
  }

  /**
   * What was skipped while it was out of sight had a guessed height: once it is drawn, the place is another. So it is
   * looked at again in the next frames, until it stays.
   * @param {Range} range
   * @param {number} frames
   */
  #settle(range, frames) {
    requestAnimationFrame(() => {
      if (CSS.highlights.get('here')?.has(range)) this.parts.scroll.center(range.getBoundingClientRect());
      if (frames > 1) this.#settle(range, frames - 1);
    });
  }

  /** Matches are counted where the text is loaded; an entry that is not counts as one. */
  #report(looking = false) {
    const hits = this.text ? this.#hits() : [];
    const counts = hits.map((seq) => this.#matchesIn(seq));
    const before = counts.slice(0, this.here ? hits.indexOf(this.here.seq) : 0).reduce((sum, n) => sum + n, 0);
    this.parts.tell({
      type: 'found',
      count: counts.reduce((sum, n) => sum + n, 0),
      at: this.here ? before + this.here.place + 1 : 0,
      looking,
    });
  }

  /** @param {number} seq */
  #matchesIn(seq) {
    const entry = this.parts.window.entries.find((candidate) => candidate.first_seq === seq);
    if (!entry) return 1;
    const shown = seq === this.here?.seq ? this.#rangesHere().length : 0;
    return Math.max(1, shown || matchesIn(entry, this.text));
  }
}

/**
 * @param {Element} root
 * @param {string} text
 * @returns {Range[]} also across the edges of bold and code
 */
export function rangesOf(root, text) {
  const low = text.toLowerCase();
  /** @type {{node: Text, from: number}[]} */
  const nodes = [];
  let joined = '';
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const previous = nodes[nodes.length - 1]?.node;
    if (previous && blockOf(previous) !== blockOf(node)) joined += '\n';
    nodes.push({ node: /** @type {Text} */ (node), from: joined.length });
    const value = node.nodeValue ?? '';
    const lower = value.toLowerCase();
    joined += lower.length === value.length ? lower : value; // a letter may grow when it is made small
  }
  const ranges = [];
  let n = 0;
  for (let at = joined.indexOf(low); at >= 0 && ranges.length < MAX_RANGES; at = joined.indexOf(low, at + low.length)) {
    while (nodes[n + 1] && nodes[n + 1].from <= at) n++;
    let last = n;
    while (nodes[last + 1] && nodes[last + 1].from < at + low.length) last++;
    const range = new Range();
    range.setStart(nodes[n].node, at - nodes[n].from);
    range.setEnd(nodes[last].node, Math.min(at + low.length - nodes[last].from, nodes[last].node.length));
    ranges.push(range);
  }
  return ranges;
}

/** @param {Node} node */
const blockOf = (node) =>
  node.parentElement?.closest(
    'p, li, td, th, pre, div, summary, section, footer, header, dt, dd, h1, h2, h3, h4, h5, h6',
  );
