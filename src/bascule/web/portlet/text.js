/** An agent's text while it grows and after: finished blocks are Markdown once and stay, only the tail is worked on. */

import { h, update } from '../js/dom.js';
import { sanitize } from '../js/visible.js';
import { codeFrame, markdown } from './markdown.js';
import { blockEnd, leans, openFence, pieces } from './pieces.js';

/** @typedef {import('../js/types.d.ts').TextEntry} TextEntry */
/** @typedef {import('./markdown.js').Ask} Ask */

const MAX_TAIL = 2000; // a longer one is only appended to
const PART = 6000; // characters drawn and laid out as one
const MAX_AGAIN = 60_000; // a text up to here is drawn a second time when its blocks lean on each other
const MAX_MARKDOWN = 400_000;
const OPEN_ENDED = new Set(['P', 'UL', 'OL', 'LI', 'BLOCKQUOTE', 'H1', 'H2', 'H3', 'H4', 'H5', 'H6']);

/** One growing text: knows how much of it is drawn, so that each new piece costs only itself. */
export class GrowingText {
  /** @param {Ask} ask */
  constructor(ask) {
    this.ask = ask;
    this.element = h('div', { class: 'agent-message' });
    this.tail = h('div', { class: 'tail' });
    this.drawn = 0; // characters that are in finished blocks
    /** @type {{node: Text, shown: number} | null} the text node that grows, and up to where it has come */
    this.growing = null;
    this.filled = PART; // characters in the last part
    this.grew = false;
    this.closed = false;
  }

  /** @param {TextEntry} entry */
  show({ text, open }) {
    if (this.closed) return;
    if (open) this.#grow(text);
    else this.#finish(text);
  }

  /** @param {string} text */
  #grow(text) {
    if (!this.grew) this.element.append(this.tail);
    this.grew = true;
    const cut = blockEnd(text, this.drawn);
    if (cut > this.drawn) {
      for (const piece of pieces(text.slice(this.drawn, cut), PART)) this.#add(piece);
      this.drawn = cut;
      this.growing = null;
      this.tail.replaceChildren();
    }
    const tail = text.slice(this.drawn);
    const fence = openFence(tail);
    if (fence) this.#append(text, this.drawn + fence.begins, fence.language);
    else if (tail.length > MAX_TAIL) this.#append(text, this.drawn, null);
    else this.#redraw(tail);
  }

  /**
   * A short tail is Markdown already, so that nothing jumps when its block ends; what is the same stays.
   * @param {string} tail
   */
  #redraw(tail) {
    this.growing = null;
    const fresh = h('div', null, markdown(tail, this.ask));
    let last = /** @type {Element} */ (fresh);
    while (last.lastElementChild && OPEN_ENDED.has(last.lastElementChild.nodeName)) last = last.lastElementChild;
    last.append(caret());
    update(this.tail, [...fresh.childNodes]);
  }

  /**
   * A long tail, or code, only grows.
   * @param {string} text
   * @param {number} from
   * @param {string | null} language of code
   */
  #append(text, from, language) {
    if (!this.growing) {
      const node = document.createTextNode('');
      this.growing = { node, shown: from };
      if (language === null) this.tail.replaceChildren(h('div', { class: 'agent-message__run' }, node, caret()));
      else this.tail.replaceChildren(codeFrame(language, [node, caret()], () => this.ask.copy(node.data)));
    }
    if (text.length <= this.growing.shown) return;
    this.growing.node.appendData(sanitize(text.slice(this.growing.shown)));
    this.growing.shown = text.length;
  }

  /** @param {string} piece */
  #add(piece) {
    let part =
      this.element.lastElementChild === this.tail ? this.tail.previousElementSibling : this.element.lastElementChild;
    if (!part || this.filled >= PART) {
      part = h('div', { class: 'part' });
      if (this.tail.isConnected || this.tail.parentNode) this.tail.before(part);
      else this.element.append(part);
      this.filled = 0;
    }
    part.append(markdown(piece, this.ask));
    this.filled += piece.length;
  }

  /** @param {string} text */
  #finish(text) {
    this.closed = true;
    this.growing = null;
    this.tail.remove();
    if (text.length > MAX_MARKDOWN) {
      this.element.replaceChildren(h('pre', { class: 'plain' }, sanitize(text)));
      return;
    }
    if (text.length <= MAX_AGAIN && leans(text)) {
      this.element.replaceChildren(h('div', { class: 'part' }, markdown(text, this.ask)));
      return;
    }
    for (const piece of pieces(text.slice(this.drawn), PART)) this.#add(piece);
  }
}

const caret = () => h('span', { class: 'caret', 'aria-hidden': 'true' });
