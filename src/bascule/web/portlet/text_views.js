/** Text of a tool call: prose, a command, what it printed, code. */

import { ansiPieces } from '../js/ansi.js';
import { copyButton } from '../js/copy_button.js';
import { h } from '../js/dom.js';
import { count } from '../js/format.js';
import { highlighted } from '../js/highlight.js';
import { hasHidden, sanitize } from '../js/visible.js';
import { markdown } from './markdown.js';
import { exact } from './shown.js';

/** @typedef {import('./view.js').View} View */

const MAX_LINES = 400;

/**
 * @param {string} text
 * @param {View} view
 * @returns {Node[]}
 */
export const prose = (text, view) =>
  text.trim() ? [h('div', { class: 'agent-message small' }, markdown(text, view.ask))] : [];

/**
 * @param {string} command
 * @param {unknown} note
 * @param {View} view
 */
export function commandView(command, note, view) {
  return h(
    'div',
    { class: 'tool__command' },
    h(
      'pre',
      null,
      h('span', { class: 'prompt-sign', 'aria-hidden': 'true' }, '$ '),
      h('code', null, hasHidden(command) ? exact(command) : highlighted(command, 'bash')),
    ),
    typeof note === 'string' && note && h('p', { class: 'says' }, sanitize(note)),
    copyButton('Copy command', () => view.ask.copy(command)),
  );
}

/**
 * @param {string} text
 * @param {View} view
 */
export function outputView(text, view) {
  const rows = text.replace(/\s+$/, '').split('\n');
  const pre = h('pre', { class: 'tool__output', tabindex: 0 }, coloured(rows.slice(-MAX_LINES).join('\n')));
  const rest = rows.length - MAX_LINES;
  /** @type {HTMLButtonElement | false} */
  const more =
    rest > 0 &&
    h(
      'button',
      {
        type: 'button',
        class: 'link',
        onclick: () => {
          pre.replaceChildren(...coloured(rows.join('\n')));
          if (more) more.remove();
        },
      },
      `Show ${count(rest, 'earlier line')}`,
    );
  return h(
    'div',
    { class: 'tool__output-frame' },
    more,
    pre,
    copyButton('Copy output', () => view.ask.copy(text)),
  );
}

/**
 * @param {string} text
 * @returns {(Node | string)[]}
 */
const coloured = (text) =>
  ansiPieces(text).map((piece) =>
    piece.classes.length ? h('span', { class: piece.classes.join(' ') }, sanitize(piece.text)) : sanitize(piece.text),
  );

/**
 * @param {string} text
 * @param {string} language
 * @param {View} view
 */
export const codeView = (text, language, view) =>
  h(
    'div',
    { class: 'tool__output-frame' },
    h('pre', { class: 'tool__output code', tabindex: 0 }, highlighted(sanitize(text), language)),
    copyButton('Copy', () => view.ask.copy(text)),
  );
