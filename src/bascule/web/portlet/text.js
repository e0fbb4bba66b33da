/** An agent's text while it streams and after: finished blocks are Markdown at once, the tail stays plain. */

import { h } from '../js/dom.js';
import { tame } from '../js/visible.js';
import { markdown } from './markdown.js';

/** @typedef {import('../js/types.d.ts').TextEntry} TextEntry */
/** @typedef {{copy: (text: string) => void, link: (href: string) => void}} Ask */

const MOST_TAIL = 2000;
const OPEN_ENDED = new Set(['P', 'UL', 'OL', 'LI', 'BLOCKQUOTE', 'H1', 'H2', 'H3', 'H4', 'H5', 'H6']);

/** One growing text: knows how much of it is drawn, so that each new piece costs only itself. */
export class GrowingText {
  /** @param {Ask} ask */
  constructor(ask) {
    this.ask = ask;
    this.element = h('div', { class: 'ma' });
    this.tail = h('div', { class: 'tail' });
    this.node = document.createTextNode('');
    this.caret = h('span', { class: 'caret', 'aria-hidden': 'true' });
    this.tail.append(this.caret);
    this.drawn = 0; // characters that are in finished blocks
    this.shown = -1; // characters that are in the growing tail, counted from the start; -1: it is not growing
    this.closed = false;
    this.element.append(this.tail);
  }

  /** @param {TextEntry} entry */
  show(entry) {
    if (!entry.open) {
      if (!this.closed) this.element.replaceChildren(markdown(entry.text, this.ask));
      this.closed = true;
      return;
    }
    const cut = lastBlockEnd(entry.text, this.drawn);
    if (cut > this.drawn) {
      this.tail.before(markdown(entry.text.slice(this.drawn, cut), this.ask));
      this.drawn = cut;
      this.shown = -1;
    }
    const tail = entry.text.slice(this.drawn);
    if (tail.length <= MOST_TAIL) this.#showTail(tail);
    else this.#growTail(entry.text);
  }

  /** A short tail is Markdown already, so that nothing jumps when its block ends. @param {string} tail */
  #showTail(tail) {
    this.tail.replaceChildren(markdown(tail, this.ask));
    let last = this.tail;
    while (last.lastElementChild && OPEN_ENDED.has(last.lastElementChild.nodeName)) last = last.lastElementChild;
    last.append(this.caret);
    this.shown = -1;
  }

  /** A long one only grows: each new piece costs itself. @param {string} text */
  #growTail(text) {
    if (this.shown < 0) {
      this.node.nodeValue = '';
      this.tail.replaceChildren(this.node, this.caret);
      this.shown = this.drawn;
    }
    this.node.appendData(tame(text.slice(this.shown)));
    this.shown = text.length;
  }
}

/**
 * Where the last finished block ends: after a blank line that is not inside a code fence.
 * @param {string} text
 * @param {number} from a place that is itself such an end
 */
export function lastBlockEnd(text, from) {
  let end = from;
  let fence = '';
  let place = from;
  while (place < text.length) {
    const line = text.indexOf('\n', place);
    if (line < 0) break;
    const row = text.slice(place, line);
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(row)?.[1];
    if (mark && !fence) fence = mark;
    else if (mark && fence && mark[0] === fence[0] && mark.length >= fence.length) fence = '';
    else if (!fence && row.trim() === '') end = line + 1;
    place = line + 1;
  }
  return end;
}
