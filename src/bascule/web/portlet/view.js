/** Keeps the transcript's elements in step with the folded entries; draws only what changed. */

import { h } from '../js/dom.js';
import { icon } from '../js/icons.js';
import { duration, groupWords } from '../js/words.js';
import { blocksOf } from './blocks.js';
import { eventLine, planCard, promptBox, requestLine, thinkingLine, turnFooter } from './entries.js';
import { GrowingText } from './text.js';
import { toolLine } from './tool.js';

/**
 * @typedef {import('../js/types.d.ts').Entry} Entry
 * @typedef {import('./blocks.js').Block} Block
 * @typedef {{copy: (text: string) => void, link: (href: string) => void, changes: () => void}} Ask
 */

export class View {
  /**
   * @param {HTMLElement} column
   * @param {Ask} ask
   */
  constructor(column, ask) {
    this.column = column;
    this.ask = ask;
    this.cwd = '';
    /** @type {Set<string>} tool calls that wait for a person */
    this.waitingFor = new Set();
    /** @type {import('../js/reduce.js').Transcript} */
    this.state = { seq: 0, before: null, entries: [], open: {}, changed: [] };
    /** @type {Map<string, {node: HTMLElement, mark: any[]}>} */
    this.drawn = new Map();
    /** @type {Map<number, GrowingText>} */
    this.texts = new Map();
    /** @type {Set<string>} lines a person has closed or opened against the default */
    this.toggled = new Set();
  }

  /** @param {import('../js/reduce.js').Transcript} state */
  show(state) {
    this.state = state;
    const waiting = state.entries.filter((one) => one.kind === 'request' && one.state === 'open');
    this.waitingFor = new Set(waiting.map((one) => /** @type {any} */ (one).asked.tool_id).filter(Boolean));
    const blocks = blocksOf(state.entries);
    const kept = new Set(blocks.map((block) => block.key));
    for (const [key, { node }] of this.drawn) {
      if (!kept.has(key)) {
        node.remove();
        this.drawn.delete(key);
      }
    }
    const first = state.entries[0]?.first_seq ?? 0;
    for (const seq of this.texts.keys()) if (seq < first) this.texts.delete(seq);
    let place = /** @type {ChildNode | null} */ (this.column.firstChild);
    blocks.forEach((block, n) => {
      const node = this.#drawBlock(block, blocks[n + 1]);
      if (node === place) place = place.nextSibling;
      else this.column.insertBefore(node, place);
    });
  }

  /** @param {Block} block @param {Block | undefined} next @returns {HTMLElement} */
  #drawBlock(block, next) {
    const known = this.drawn.get(block.key);
    const mark = this.#markOf(block, next);
    if (known && known.mark.length === mark.length && known.mark.every((one, n) => one === mark[n])) return known.node;
    const node = known?.node ?? h('div', { class: 'blk' });
    const open = this.#openLines(node);
    const content = block.kind === 'group' ? this.#group(block) : this.#entry(block.entries[0], block, next);
    if (content !== node.firstChild || node.childNodes.length !== 1) node.replaceChildren(...(content ? [content] : []));
    this.#reopen(node, open);
    this.drawn.set(block.key, { node, mark });
    return node;
  }

  /** Everything the drawing of a block depends on, compared by identity. @param {Block} block @param {Block | undefined} next */
  #markOf(block, next) {
    const inner = block.entries.flatMap((entry) => [entry, ...(entry.kind === 'tool' ? block.inside.get(entry.tool_id) ?? [] : [])]);
    const waits = block.entries.some((entry) => entry.kind === 'tool' && this.waitingFor.has(entry.tool_id));
    const until = block.entries[0].kind === 'text' ? next?.entries[0].at : null;
    return [...inner, waits, block.last, until, block.entries.length];
  }

  /** @param {Block} block */
  #group(block) {
    const tools = /** @type {import('../js/types.d.ts').ToolEntry[]} */ (block.entries);
    const took = Date.parse(tools[tools.length - 1].finished_at ?? tools[0].at) - Date.parse(tools[0].at);
    const details = h('details', { class: 'tg', 'data-line': block.key },
      h('summary', null, h('span', { class: 'car' }, icon('right', 12)), h('span', { class: 'v' }, groupWords(tools)),
        h('span', { class: 'meta' }, took >= 1000 ? duration(took) : '')));
    details.ontoggle = () => {
      if (details.open && details.childElementCount === 1) {
        details.append(h('div', { class: 'tgb' }, tools.map((tool) => toolLine(tool, this, { opened: false, children: [] }))));
      }
    };
    return details;
  }

  /** @param {Entry} entry @param {Block} block @param {Block | undefined} [next] @returns {Node | null} */
  #entry(entry, block, next) {
    switch (entry.kind) {
      case 'prompt': return promptBox(entry);
      case 'text': return entry.voice === 'thinking' ? thinkingLine(entry, this, next?.entries[0].at ?? null) : this.#text(entry);
      case 'tool': return toolLine(entry, this, { opened: this.#opensItself(entry, block), children: this.#children(entry, block) });
      case 'plan': return planCard(entry);
      case 'request': return requestLine(entry, this);
      case 'turn': return turnFooter(entry, this);
      case 'event': return eventLine(entry, this);
    }
  }

  /** @param {import('../js/types.d.ts').TextEntry} entry */
  #text(entry) {
    let text = this.texts.get(entry.first_seq);
    if (!text) this.texts.set(entry.first_seq, text = new GrowingText(this.ask));
    text.show(entry);
    return text.element;
  }

  /** @param {import('../js/types.d.ts').ToolEntry} tool @param {Block} block */
  #opensItself(tool, block) {
    return block.last && tool.tool_kind === 'edit' && tool.status === 'done' && tool.diffs.length > 0;
  }

  /** @param {import('../js/types.d.ts').ToolEntry} tool @param {Block} block @returns {Node[]} */
  #children(tool, block) {
    const inside = block.inside.get(tool.tool_id) ?? [];
    if (!inside.length) return [];
    return [h('div', { class: 'tgb' }, inside.map((entry) => this.#entry(entry, block)).filter((node) => node !== null))];
  }

  /** Which lines a person opened, so that a fresh drawing opens them again. @param {HTMLElement} node */
  #openLines(node) {
    return [...node.querySelectorAll('details')].map((one) => one.open);
  }

  /** @param {HTMLElement} node @param {boolean[]} open */
  #reopen(node, open) {
    if (open[0] === undefined) return;
    const outer = node.querySelector('details');
    if (outer && open[0] && !outer.open) {
      outer.open = true;
      outer.dispatchEvent(new Event('toggle'));
    }
  }
}
