/** An agent's text while it streams and after: finished blocks are Markdown at once, the tail stays plain. */

import { h } from '../js/dom.js';
import { tame } from '../js/visible.js';
import { markdown } from './markdown.js';

/** @typedef {import('../js/types.d.ts').TextEntry} TextEntry */
/** @typedef {{copy: (text: string) => void, link: (href: string) => void}} Ask */

/** One growing text: knows how much of it is drawn, so that each new piece costs only itself. */
export class GrowingText {
  /** @param {Ask} ask */
  constructor(ask) {
    this.ask = ask;
    this.element = h('div', { class: 'ma' });
    this.tail = h('div', { class: 'tail' });
    this.node = document.createTextNode('');
    this.tail.append(this.node, h('span', { class: 'caret', 'aria-hidden': 'true' }));
    this.drawn = 0; // characters that are in finished blocks
    this.shown = 0; // characters that are in finished blocks or the tail
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
      this.drawn = this.shown = cut;
      this.node.nodeValue = '';
    }
    this.node.appendData(tame(entry.text.slice(this.shown)));
    this.shown = entry.text.length;
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
