/** A tool call: one line that opens to what it did, drawn by what kind of tool it is. */

import { ansiPieces } from '../js/ansi.js';
import { counts, editsIn, patchLines } from '../js/diff.js';
import { h, iconButton } from '../js/dom.js';
import { highlighted, languageOf } from '../js/highlight.js';
import { icon } from '../js/icons.js';
import { diffView, plusMinus } from '../js/lines.js';
import { tame } from '../js/visible.js';
import { duration, nearPath, toolWords } from '../js/words.js';
import { markdown } from './markdown.js';

/** @typedef {import('../js/types.d.ts').ToolEntry} ToolEntry */
/** @typedef {import('./view.js').View} View */

const MOST_LINES = 400;

/**
 * @param {ToolEntry} tool
 * @param {View} view
 * @param {{opened: boolean, children: Node[]}} options
 */
export function toolLine(tool, view, { opened, children }) {
  const words = toolWords(tool, view.cwd);
  const waiting = view.waitingFor.has(tool.tool_id);
  const details = h('details', { class: `tool t-${tool.status}`, open: opened, 'data-tool': tool.tool_id },
    h('summary', null,
      icon(words.icon), h('span', { class: 'v' }, words.verb), h('code', null, tame(words.target)),
      h('span', { class: 'meta' }, waiting ? 'waiting for you' : resultWords(tool)), statusMark(tool, waiting),
      h('span', { class: 'car' }, icon('right', 12))));
  /** @type {HTMLElement | null} */
  let body = null;
  // Drawn when it is opened: a closed line costs only itself.
  const fill = () => {
    if (details.open && !body) details.append(body = h('div', { class: 'tb' }, toolBody(tool, view), children));
  };
  details.ontoggle = fill;
  if (opened) fill();
  return details;
}

/** @param {ToolEntry} tool @param {boolean} waiting */
function statusMark(tool, waiting) {
  if (waiting) return h('span', { class: 'dot dot-blocked', role: 'img', 'aria-label': 'waiting for you' });
  if (tool.status === 'running' && tool.open) return h('span', { class: 'spin', role: 'img', 'aria-label': 'running' });
  if (tool.status === 'done') return h('span', { class: 'ok', role: 'img', 'aria-label': 'done' }, icon('check', 14));
  if (tool.status === 'running') return h('span', { class: 'bad', role: 'img', 'aria-label': 'not finished' }, icon('stop', 12));
  return h('span', { class: 'bad', role: 'img', 'aria-label': tool.status }, icon('x', 14));
}

/** @param {ToolEntry} tool @returns {Node | string} */
function resultWords(tool) {
  if (tool.status === 'denied') return 'denied';
  if (tool.status === 'running' && !tool.open) return 'not finished';
  const { added, removed } = changed(tool);
  if (added || removed) return plusMinus(added, removed);
  if (tool.status === 'failed') return 'failed';
  const took = tool.finished_at ? Date.parse(tool.finished_at) - Date.parse(tool.at) : 0;
  return took >= 1000 ? duration(took) : '';
}

/** @param {ToolEntry} tool */
export function changed(tool) {
  if (tool.tool_kind !== 'edit' || tool.status === 'denied') return { added: 0, removed: 0 };
  if (tool.diffs.length) {
    return tool.diffs.reduce((sum, one) => ({ added: sum.added + (one.added ?? 0), removed: sum.removed + (one.removed ?? 0) }), { added: 0, removed: 0 });
  }
  return editsIn(tool.input).reduce((sum, one) => {
    const more = counts(one.lines);
    return { added: sum.added + more.added, removed: sum.removed + more.removed };
  }, { added: 0, removed: 0 });
}

/** @param {ToolEntry} tool @param {View} view @returns {Node[]} */
function toolBody(tool, view) {
  const images = tool.images.map((one) => h('img', { class: 'shot', alt: 'Picture from the tool', src: `data:${one.media_type};base64,${one.data}` }));
  return [...bodyByKind(tool, view), ...images];
}

/** @param {ToolEntry} tool @param {View} view @returns {Node[]} */
function bodyByKind(tool, view) {
  const output = tool.output ? [outputView(tool.output, view)] : [];
  switch (tool.tool_kind) {
    case 'execute': return [commandView(tool, view), ...output];
    case 'edit': return [...diffsOf(tool, view), ...(tool.status === 'failed' || tool.status === 'denied' ? output : [])];
    case 'read': return tool.output ? [codeView(tool, view)] : [];
    case 'agent': return tool.output ? [h('div', { class: 'ma small' }, markdown(tool.output, view.ask))] : [];
    case 'search':
    case 'fetch': return output;
    default: return [parameters(tool.input), ...output];
  }
}

/** @param {ToolEntry} tool @param {View} view */
function commandView(tool, view) {
  const command = String(/** @type {any} */ (tool.input)?.command ?? tool.title);
  return h('div', { class: 'cmdl' },
    h('pre', null, h('span', { class: 'pr' }, '$ '), h('code', null, highlighted(tame(command), 'bash'))),
    iconButton('copy', 'Copy command', { onclick: () => view.ask.copy(command) }));
}

/** @param {string} text @param {View} view */
function outputView(text, view) {
  const rows = text.split('\n');
  const cut = rows.length > MOST_LINES;
  const shown = cut ? rows.slice(-MOST_LINES).join('\n') : text;
  const pieces = ansiPieces(shown.replace(/\n+$/, '')).map((piece) =>
    piece.classes.length ? h('span', { class: piece.classes.join(' ') }, piece.text) : piece.text);
  return h('div', { class: 'outw' },
    cut && h('button', { type: 'button', class: 'lnk', onclick: (/** @type {any} */ event) => showAll(event.currentTarget, text) }, `Show ${rows.length - MOST_LINES} earlier lines`),
    h('pre', { class: 'out', tabindex: 0 }, pieces),
    iconButton('copy', 'Copy output', { onclick: () => view.ask.copy(text) }));
}

/** @param {HTMLElement} button @param {string} text */
function showAll(button, text) {
  const pre = button.nextElementSibling;
  if (pre) pre.textContent = ansiPieces(text).map((piece) => piece.text).join('');
  button.remove();
}

/** @param {ToolEntry} tool @param {View} view */
function codeView(tool, view) {
  const path = String(/** @type {any} */ (tool.input)?.file_path ?? /** @type {any} */ (tool.input)?.path ?? '');
  const numbered = /^\s*\d+[→\t]/;
  const rows = tool.output.split('\n').slice(0, MOST_LINES);
  const text = tame(rows.map((row) => row.replace(numbered, '')).join('\n').replace(/\n+$/, ''));
  return h('div', { class: 'outw' }, h('pre', { class: 'out code', tabindex: 0 }, highlighted(text, languageOf(path))),
    iconButton('copy', 'Copy', { onclick: () => view.ask.copy(text) }));
}

/** @param {ToolEntry} tool @param {View} view @returns {Node[]} */
function diffsOf(tool, view) {
  const files = tool.diffs.length
    ? tool.diffs.map((one) => ({ path: one.path, lines: patchLines(one.patch) }))
    : editsIn(tool.input);
  return files.flatMap(({ path, lines }) => {
    const language = languageOf(path);
    const shown = lines.slice(0, MOST_LINES);
    return [
      files.length > 1 ? h('p', { class: 'fname' }, nearPath(path, view.cwd)) : null,
      diffView(shown, (text) => highlighted(tame(text), language)),
      lines.length > shown.length ? h('p', { class: 'fname' }, `${lines.length - shown.length} more lines are in the file.`) : null,
    ].filter((node) => node !== null);
  });
}

/** @param {unknown} input */
function parameters(input) {
  const rows = Object.entries(input && typeof input === 'object' ? input : { input });
  if (!rows.length) return h('span');
  return h('dl', { class: 'params' }, rows.slice(0, 40).flatMap(([name, value]) => [
    h('dt', null, name), h('dd', null, tame(typeof value === 'string' ? value : JSON.stringify(value, null, 1)).slice(0, 4000))]));
}
