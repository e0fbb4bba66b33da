/** A tool call: one line that opens to what it did. The line stays the same element from its start to its end. */

import { counts, editsIn } from '../js/diff.js';
import { h } from '../js/dom.js';
import { icon } from '../js/icons.js';
import { plusMinus } from '../js/lines.js';
import { count, duration, groupWords, toolWords, workWords } from '../js/format.js';
import { commandOf, exitCode, searchResults } from './results.js';
import { pathButton } from './paths.js';
import { oneLine, warning } from './shown.js';
import { toolBody } from './tool_views.js';

/**
 * @typedef {import('../js/types.d.ts').ToolEntry} ToolEntry
 * @typedef {import('./view.js').View} View
 * @typedef {{waiting: boolean, opensItself: boolean, following: boolean, inside: Node[], calls: number,
 *   waited: number}} Around
 */

export class ToolLine {
  /** @param {View} view */
  constructor(view) {
    this.view = view;
    this.summary = h('summary');
    this.before = h('div'); // what it was given, or all of it
    this.kids = h('div', { class: 'tool-group__body' }); // what a sub-agent did
    this.after = h('div'); // what a sub-agent answered
    this.body = h('div', { class: 'tool__body' }, this.before, this.kids, this.after);
    this.element = h('details', { class: 'tool' }, this.summary);
    this.touched = false; // by a person: from then on it opens and closes for nobody else
    this.itself = false; // it opened itself
    /** @type {ToolEntry | null} what the body shows */
    this.drawn = null;
    /** @type {Node[]} */
    this.inside = [];
    this.summary.onclick = () => {
      this.touched = true;
    };
    this.element.ontoggle = () => this.#fill();
  }

  /**
   * @param {ToolEntry} tool
   * @param {Around} around
   */
  show(tool, around) {
    this.tool = tool;
    this.inside = around.inside;
    const words = toolWords(tool, this.view.cwd);
    const target = tool.tool_kind === 'execute' ? commandOf(tool.input, tool.title) : words.target;
    this.element.className = `tool is-${tool.status} k-${tool.tool_kind}`;
    this.element.dataset.tool = tool.tool_id;
    this.summary.replaceChildren(
      icon(words.icon),
      h('span', { class: 'entry-line__verb' }, oneLine(words.verb)),
      targetView(tool, target),
      warning(target, tool.name) ?? '',
      h('span', { class: 'meta' }, around.waiting ? 'waiting for an answer' : resultWords(tool, around)),
      statusMark(tool, around.waiting),
      h('span', { class: 'disclosure' }, icon('right', 12)),
    );
    if (!this.touched) this.#openOrClose(around);
    this.#fill();
  }

  /** @param {Around} around */
  #openOrClose({ opensItself, following }) {
    if (opensItself && !this.itself) this.element.open = this.itself = true;
    // Nothing closes under the eyes of somebody who reads further up.
    else if (!opensItself && this.itself && following) this.element.open = this.itself = false;
  }

  /** Drawn when it is opened: a closed line costs only itself. */
  #fill() {
    if (!this.element.open || !this.tool) return;
    if (!this.body.parentNode) this.element.append(this.body);
    if (this.drawn !== this.tool) {
      const kept = this.drawn ? scrolled(this.body) : null;
      this.drawn = this.tool;
      const { before, after } = toolBody(this.tool, this.view);
      this.before.replaceChildren(...fileButton(this.tool, this.view), ...before);
      this.after.replaceChildren(...after);
      kept?.(this.body);
    }
    const same =
      this.inside.length === this.kids.childNodes.length &&
      this.inside.every((node, n) => node === this.kids.childNodes[n]);
    if (!same) this.kids.replaceChildren(...this.inside);
  }

  /** For somebody who is looking for something in it. */
  open() {
    this.touched = true;
    this.element.open = true;
    this.#fill();
  }
}

/**
 * A path that does not fit loses its folders, never the name of the file.
 * @param {ToolEntry} tool
 * @param {string} target
 */
function targetView(tool, target) {
  if (!['read', 'edit'].includes(tool.tool_kind) || !target) return h('code', null, oneLine(target));
  const cut = target.lastIndexOf('/') + 1;
  if (cut === target.length) return h('code', null, oneLine(target));
  const [folder, name] = [target.slice(0, cut), target.slice(cut)];
  return h('code', { class: 'is-path', title: target }, h('span', null, oneLine(folder)), h('b', null, oneLine(name)));
}

/**
 * A button that opens the file beside the transcript; in the body, since a line that opens may hold no button.
 * @param {ToolEntry} tool
 * @param {View} view
 * @returns {Node[]}
 */
function fileButton(tool, view) {
  const { target } = toolWords(tool, view.cwd);
  if (!view.ask.file || !target || target.endsWith('/') || !['read', 'edit'].includes(tool.tool_kind)) return [];
  const line = tool.locations[0]?.line ?? 0;
  return [h('p', { class: 'tool__file' }, pathButton(oneLine(target), { path: target, line }, view.ask.file))];
}

/**
 * Output that grows keeps its place, or its end.
 * @param {HTMLElement} body
 */
function scrolled(body) {
  const before = body.querySelector('.tool__output');
  if (!before) return null;
  const { scrollTop } = before;
  const atEnd = before.scrollHeight - scrollTop - before.clientHeight < 8;
  return (/** @type {HTMLElement} */ now) => {
    const after = now.querySelector('.tool__output');
    if (after) after.scrollTop = atEnd ? after.scrollHeight : scrollTop;
  };
}

/** Several calls in one line. */
export class GroupLine {
  /** @param {(tool: ToolEntry) => ToolLine} lineOf */
  constructor(lineOf) {
    this.lineOf = lineOf;
    this.summary = h('summary');
    this.body = h('div', { class: 'tool-group__body' });
    this.element = h('details', { class: 'tool-group' }, this.summary);
    /** @type {ToolEntry[]} */
    this.tools = [];
    this.element.ontoggle = () => this.#fill();
  }

  /**
   * @param {ToolEntry[]} tools
   * @param {number} waited for a person, by all of them
   */
  show(tools, waited) {
    const fresh = !this.tools.length;
    this.tools = tools;
    const took = Date.parse(tools[tools.length - 1].finished_at ?? tools[0].at) - Date.parse(tools[0].at);
    this.summary.replaceChildren(
      h('span', { class: 'disclosure' }, icon('right', 12)),
      h('span', { class: 'entry-line__verb' }, groupWords(tools)),
      h('span', { class: 'meta' }, changedWords(tools), workWords(took, waited)),
    );
    // What a person holds open does not vanish because its neighbour finished.
    if (
      fresh &&
      tools.some((tool) => {
        const line = this.lineOf(tool);
        return line.touched && line.element.open;
      })
    )
      this.element.open = true;
    this.#fill();
  }

  #fill() {
    if (!this.element.open) return;
    this.body.replaceChildren(...this.tools.map((tool) => this.lineOf(tool).element));
    if (!this.body.parentNode) this.element.append(this.body);
  }

  open() {
    this.element.open = true;
    this.#fill();
  }
}

/** @param {ToolEntry[]} tools */
function changedWords(tools) {
  const sum = tools
    .map(changed)
    .reduce((a, b) => ({ added: a.added + b.added, removed: a.removed + b.removed }), { added: 0, removed: 0 });
  return sum.added || sum.removed ? plusMinus(sum.added, sum.removed) : '';
}

/**
 * @param {ToolEntry} tool
 * @param {boolean} waiting
 */
function statusMark(tool, waiting) {
  const mark = (/** @type {string} */ name, /** @type {string} */ label, /** @type {Node | string} */ inner = '') =>
    h('span', { class: name, role: 'img', 'aria-label': label }, inner);
  if (waiting) return mark('status-dot status-dot-blocked', 'waiting for an answer');
  if (tool.status === 'running' && tool.open) return mark('spin', 'running');
  if (tool.status === 'done') return mark('tool-mark is-done', 'done', icon('check', 14));
  if (tool.status === 'running') return mark('tool-mark is-failed', 'not finished', icon('stop', 12));
  return mark('tool-mark is-failed', tool.status, icon('x', 14));
}

/**
 * @param {ToolEntry} tool
 * @param {{calls: number, waited: number}} around calls of a sub-agent; milliseconds it waited for a person
 * @returns {Node | string}
 */
function resultWords(tool, { calls, waited }) {
  if (tool.status === 'denied') return 'denied';
  if (tool.status === 'running')
    return tool.open ? h('span', { class: 'tick', 'data-since': since(tool.at, waited) }) : 'not finished';
  const { added, removed } = changed(tool);
  if (added || removed) return plusMinus(added, removed);
  if (tool.status === 'failed') {
    const code = tool.tool_kind === 'execute' ? exitCode(tool.output) : null;
    return code === null ? 'failed' : `code ${code}`;
  }
  const took = tool.finished_at ? Date.parse(tool.finished_at) - Date.parse(tool.at) : 0;
  const time = workWords(took, waited);
  if (tool.tool_kind === 'agent') return [calls ? count(calls, 'call') : '', time].filter(Boolean).join(' · ');
  return [amount(tool), time].filter(Boolean).join(' · ');
}

/**
 * When it would have begun had nobody been asked.
 * @param {string} at
 * @param {number} waited
 */
const since = (at, waited) => (waited ? new Date(Date.parse(at) + waited).toISOString() : at);

/**
 * How much a call brought, in words.
 * @param {ToolEntry} tool
 */
function amount(tool) {
  if (!tool.output || tool.output.length > 200_000) return '';
  if (tool.tool_kind === 'read' && !tool.images.length)
    return count(tool.output.replace(/\n+$/, '').split('\n').length, 'line');
  if (tool.tool_kind !== 'search' || /web/i.test(tool.name)) return '';
  const found = searchResults(tool.output);
  if (!found) return '';
  return found.matches ? count(found.matches, 'match', 'matches') : count(found.files.length, 'file');
}

/** @param {ToolEntry} tool */
export function changed(tool) {
  if (tool.tool_kind !== 'edit' || tool.status === 'denied') return { added: 0, removed: 0 };
  if (tool.diffs.length) {
    return tool.diffs.reduce(
      (sum, diff) => ({ added: sum.added + (diff.added ?? 0), removed: sum.removed + (diff.removed ?? 0) }),
      { added: 0, removed: 0 },
    );
  }
  return editsIn(tool.input).reduce(
    (sum, edit) => {
      const more = counts(edit.lines);
      return { added: sum.added + more.added, removed: sum.removed + more.removed };
    },
    { added: 0, removed: 0 },
  );
}

/**
 * How long the calls in sight have been running; counted once a second.
 * @param {ParentNode} root
 * @param {number} now
 */
export function tick(root, now) {
  for (const span of root.querySelectorAll('.tick')) {
    const seconds = Math.floor((now - Date.parse(/** @type {HTMLElement} */ (span).dataset.since ?? '')) / 1000);
    span.textContent = seconds >= 1 ? duration(seconds * 1000) : '';
  }
}
