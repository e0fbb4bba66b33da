/** An agent's plan, set as text a person can read: headings, lists, code. Text only ever becomes text nodes. */

import { h } from '../../js/dom.js';
import { visiblePieces } from '../../js/visible.js';

/**
 * Text with what hides in it written out and marked.
 * @param {string} text
 */
export const shown = (text) =>
  visiblePieces(text).map((piece) => (piece.escaped ? h('span', { class: 'escaped' }, piece.text) : piece.text));

/**
 * `code` and **strong** within a line; everything else as it stands.
 * @param {string} text
 */
function inline(text) {
  return text.split(/(`[^`\n]+`|\*\*[^*\n]+\*\*)/).map((part) => {
    if (/^`[^`]+`$/.test(part)) return h('code', null, shown(part.slice(1, -1)));
    if (/^\*\*[^*]+\*\*$/.test(part)) return h('b', null, shown(part.slice(2, -2)));
    return h('span', null, shown(part));
  });
}

/**
 * Every line of it is there, in order; only its marks turn into a look.
 * @param {string} text
 * @returns {HTMLElement[]}
 */
export function planView(text) {
  /** @type {HTMLElement[]} */
  const blocks = [];
  /** @type {string[] | null} */
  let fence = null;
  for (const line of text.replace(/\n+$/, '').split('\n')) {
    if (/^\s*```/.test(line)) {
      if (fence) blocks.push(h('pre', null, shown(fence.join('\n'))));
      fence = fence ? null : [];
    } else if (fence) fence.push(line);
    else blocks.push(lineView(line));
  }
  if (fence) blocks.push(h('pre', null, shown(fence.join('\n'))));
  return blocks;
}

/** @param {string} line */
function lineView(line) {
  const heading = /^#{1,6}\s+(.*)$/.exec(line);
  if (heading) return h('h3', { dir: 'auto' }, inline(heading[1]));
  const item = /^(\s*)([-*+]|\d+[.)])\s+(.*)$/.exec(line);
  if (item)
    return h(
      'p',
      { class: `request-plan__item request-plan__item--${Math.min(4, Math.floor(item[1].length / 2))}`, dir: 'auto' },
      h('span', { class: 'mark-label' }, /\d/.test(item[2]) ? item[2] : '•'),
      h('span', null, inline(item[3])),
    );
  return line.trim() ? h('p', { dir: 'auto' }, inline(line)) : h('p', { class: 'request-plan__gap' });
}
