/** Keeps the transcript's elements in step with the folded entries; draws only what changed. */

import { h } from '../js/dom.js';
import { pointBefore } from '../js/forks.js';
import { blocksOf, entriesOf, keysOf } from './blocks.js';
import { Thought, planCard, promptBox, requestLine } from './entries.js';
import { eventLine } from './session_notes.js';
import { GrowingText } from './text.js';
import { GroupLine, ToolLine } from './tool.js';
import { turnFooter } from './turn.js';
import { rawEntries } from './raw.js';

/**
 * @typedef {import('../js/types.d.ts').Entry} Entry
 * @typedef {import('../js/types.d.ts').TextEntry} TextEntry
 * @typedef {import('../js/types.d.ts').ToolEntry} ToolEntry
 * @typedef {import('./blocks.js').Block} Block
 * @typedef {{
 *   copy: (text: string) => void,
 *   link: (href: string) => void,
 *   changes: (seq: number) => void,
 *   branch: () => void,
 *   edit: (seq: number) => void,
 *   source: () => void,
 *   keep: (text: string) => void,
 *   file?: (path: string, line: number) => void,
 *   draw?: import('./markdown.js').Ask['draw'],
 * }} Ask
 * @typedef {{node: HTMLElement, mark: unknown[], block: Block}} Drawn
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
    this.mayContinue = false; // whether this agent's conversation can be taken further in a second session
    this.editsAfter = /** @type {number | null} */ (null); // messages after this number can be edited
    this.source = ''; // the title of the session whose conversation this one began as a copy of
    this.following = true; // whether the reader is at the end
    /** @type {Set<string>} tool calls that wait for a person */
    this.waiting = new Set();
    /** How long each of them waited, in milliseconds. @type {Map<string, number>} */
    this.waits = new Map();
    /** @type {import('../js/reduce.js').Transcript} */
    this.state = { seq: 0, before: null, after: null, entries: [], open: {}, changed: [] };
    /** @type {Map<string, Drawn>} by the block's key, those inside others, too */
    this.drawn = new Map();
    /**
     * What lives longer than one drawing, by the entry's first number.
     * @type {Map<number, GrowingText | Thought | ToolLine>}
     */
    this.lines = new Map();
    /** @type {Map<string, GroupLine>} */
    this.groups = new Map();
  }

  /** @param {import('../js/reduce.js').Transcript} state */
  show(state) {
    const before = this.state;
    this.state = state;
    if (this.#onlyGrew(before, state)) return;
    const { blocks, waiting, waits } = blocksOf(state.entries);
    this.waiting = waiting;
    this.waits = waits;
    this.#forget(new Set(keysOf(blocks)));
    let place = /** @type {ChildNode | null} */ (this.column.firstChild);
    blocks.forEach((block, n) => {
      const node = this.#drawBlock(block, blocks[n + 1]);
      if (node === place) place = place.nextSibling;
      else this.column.insertBefore(node, place);
    });
  }

  /**
   * Text that streams into lines that are drawn costs neither a layout of the blocks nor a look at the others.
   * @param {import('../js/reduce.js').Transcript} before
   * @param {import('../js/reduce.js').Transcript} state
   */
  #onlyGrew(before, state) {
    const { entries, changed } = state;
    if (
      !changed.length ||
      before.entries.length !== entries.length ||
      before.entries[0]?.first_seq !== entries[0]?.first_seq
    )
      return false;
    const grown = changed.map((seq) => entries.findLast((entry) => entry.first_seq === seq));
    if (!grown.every((entry) => entry?.kind === 'text' && entry.open && this.lines.has(entry.first_seq))) return false;
    try {
      for (const entry of /** @type {TextEntry[]} */ (grown)) {
        const line = this.lines.get(entry.first_seq);
        if (line instanceof Thought) line.show(entry, null);
        else if (line instanceof GrowingText) line.show(entry);
      }
      return true;
    } catch (error) {
      console.error(error);
      return false; // drawn block by block, that one is shown raw
    }
  }

  /** @param {Set<string>} kept */
  #forget(kept) {
    for (const [key, { node }] of this.drawn) {
      if (kept.has(key)) continue;
      node.remove();
      this.drawn.delete(key);
      this.groups.delete(key);
    }
    const { entries } = this.state;
    const [first, last] = [entries[0]?.first_seq ?? 0, entries[entries.length - 1]?.first_seq ?? 0];
    for (const seq of this.lines.keys()) if (seq < first || seq > last) this.lines.delete(seq);
  }

  /**
   * @param {Block} block
   * @param {Block | undefined} next
   * @returns {HTMLElement}
   */
  #drawBlock(block, next) {
    const known = this.drawn.get(block.key);
    const mark = this.#markOf(block, next);
    if (known && known.mark.length === mark.length && known.mark.every((one, n) => one === mark[n])) {
      known.block = block;
      return known.node;
    }
    const node = known?.node ?? h('div', { class: 'block', 'data-seq': block.entries[0].first_seq });
    const content = this.#content(block, next);
    if (!content) node.replaceChildren();
    else if (content !== node.firstChild || node.childNodes.length !== 1) node.replaceChildren(content);
    node.classList.toggle('line', content instanceof HTMLDetailsElement);
    this.drawn.set(block.key, { node, mark, block });
    return node;
  }

  /**
   * One that can't be drawn is shown as it came; the others are drawn all the same.
   * @param {Block} block
   * @param {Block | undefined} next
   * @returns {Node | null}
   */
  #content(block, next) {
    try {
      return block.kind === 'group' ? this.#group(block) : this.#entry(block, next);
    } catch (error) {
      console.error(error);
      for (const entry of entriesOf(block)) this.lines.delete(entry.first_seq);
      return rawEntries(block.entries);
    }
  }

  /**
   * Everything the drawing of a block depends on, compared by identity.
   * @param {Block} block
   * @param {Block | undefined} next
   */
  #markOf(block, next) {
    const [first] = block.entries;
    const all = entriesOf(block);
    const waits = all.filter((entry) => entry.kind === 'tool' && this.waiting.has(entry.tool_id)).length;
    const until = first.kind === 'text' && first.voice === 'thinking' ? next?.entries[0].at : null;
    const foot =
      first.kind === 'turn' &&
      [next === undefined && this.state.after === null && this.mayContinue, this.state.before === null].join();
    const waited = all.reduce((sum, entry) => sum + (entry.kind === 'tool' ? this.#waited(entry) : 0), 0);
    const edits = first.kind === 'prompt' && this.#mayEdit(first);
    const source = first.kind === 'event' && this.source;
    return [...all, waits, waited, block.last, until, foot, edits, source];
  }

  /** @param {import('../js/types.d.ts').PromptEntry} entry */
  #mayEdit(entry) {
    const { entries } = this.state;
    return this.editsAfter !== null && Boolean(pointBefore(entries, entries.indexOf(entry), this.editsAfter));
  }

  /** @param {Block} block */
  #group(block) {
    const tools = /** @type {ToolEntry[]} */ (block.entries);
    for (const tool of tools) this.#tool(tool, { opensItself: false, inside: [], calls: 0 });
    let group = this.groups.get(block.key);
    if (!group)
      this.groups.set(
        block.key,
        (group = new GroupLine((tool) => /** @type {ToolLine} */ (this.lines.get(tool.first_seq)))),
      );
    group.show(
      tools,
      tools.reduce((sum, tool) => sum + this.#waited(tool), 0),
    );
    return group.element;
  }

  /**
   * @param {Block} block
   * @param {Block | undefined} next
   * @returns {Node | null}
   */
  #entry(block, next) {
    const [entry] = block.entries;
    switch (entry.kind) {
      case 'prompt':
        return promptBox(entry, this.ask.keep, this.#mayEdit(entry) ? this.ask.edit : null);
      case 'text':
        return this.#text(entry, next?.entries[0].at ?? null);
      case 'tool':
        return this.#tool(entry, {
          // A call that failed says why without being asked; of the others only the last edit is shown.
          opensItself:
            entry.status === 'failed' ||
            (block.last && entry.tool_kind === 'edit' && entry.status === 'done' && entry.diffs.length > 0),
          inside: block.inside.map((inner, n) => this.#drawBlock(inner, block.inside[n + 1])),
          calls: block.inside.flatMap(entriesOf).filter((candidate) => candidate.kind === 'tool').length,
        });
      case 'plan':
        return planCard(entry);
      case 'request':
        return requestLine(entry);
      case 'turn':
        return turnFooter(entry, this, next === undefined && this.state.after === null);
      case 'event':
        return eventLine(entry, this);
    }
  }

  /**
   * @param {TextEntry} entry
   * @param {string | null} until
   */
  #text(entry, until) {
    let line = /** @type {GrowingText | Thought | undefined} */ (this.lines.get(entry.first_seq));
    if (!line)
      this.lines.set(
        entry.first_seq,
        (line = entry.voice === 'thinking' ? new Thought(this) : new GrowingText(this.ask)),
      );
    line.show(entry, until);
    return line.element;
  }

  /**
   * @param {ToolEntry} tool
   * @param {{opensItself: boolean, inside: Node[], calls: number}} around
   */
  #tool(tool, around) {
    let line = /** @type {ToolLine | undefined} */ (this.lines.get(tool.first_seq));
    if (!line) this.lines.set(tool.first_seq, (line = new ToolLine(this)));
    const waiting = this.waiting.has(tool.tool_id);
    line.show(tool, { ...around, waiting, waited: this.#waited(tool), following: this.following });
    return line.element;
  }

  /** @param {ToolEntry} tool */
  #waited(tool) {
    return this.waits.get(tool.tool_id) ?? 0;
  }

  /**
   * The element of an entry, with every line around it opened so that it can be seen.
   * @param {Entry} entry
   * @param {boolean} [inside] open its own line, too
   * @returns {HTMLElement | null}
   */
  reveal(entry, inside = false) {
    for (const [key, { node, block }] of this.drawn) {
      if (!node.isConnected || !block.entries.includes(entry)) continue;
      this.groups.get(key)?.open();
      const line = this.lines.get(entry.first_seq);
      if (inside && line && 'open' in line) line.open();
      return line && line.element.isConnected ? line.element : node;
    }
    // Inside a sub-agent whose line is closed: open it, then look again.
    const parent = entry.kind === 'tool' || entry.kind === 'text' ? entry.parent : null;
    const outer = parent
      ? this.state.entries.find((candidate) => candidate.kind === 'tool' && candidate.tool_id === parent)
      : undefined;
    if (!outer || !this.reveal(outer, true)) return null;
    return [...this.drawn.values()].some(({ node, block }) => node.isConnected && block.entries.includes(entry))
      ? this.reveal(entry, inside)
      : null;
  }
}
