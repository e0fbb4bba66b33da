/** Paths in an agent's text, such as `src/app.py:12`: buttons that open the file beside the transcript. */

import { h } from '../js/dom.js';

/** @typedef {(path: string, line: number) => void} OpenFile */

const NAME = String.raw`[\w@+-][\w@.+-]*`;
// With a folder before the name, or with a line behind it: a bare word with a dot in it may be anything.
const PATH = String.raw`(?:~\/|\.{0,2}\/)?(?:${NAME}\/)+${NAME}\.[A-Za-z]\w{0,9}|${NAME}\.[A-Za-z]\w{0,9}(?=:\d)`;
const WHOLE = new RegExp(`^(${PATH})(?::(\\d{1,7})(?::\\d+)?)?$`);
// Not in an address, and not the middle of a longer word.
const WITHIN = new RegExp(`(?<![\\w/.:@-])(${PATH}):(\\d{1,7})(?::\\d+)?(?![\\w/])`, 'g');
const MAX_PATHS = 300; // in one piece of text

/**
 * @param {string} text
 * @returns {{path: string, line: number} | null}
 */
export function pathIn(text) {
  const found = text.length < 400 ? WHOLE.exec(text) : null;
  return found ? { path: found[1], line: Number(found[2] ?? 0) } : null;
}

/**
 * @param {string} text
 * @returns {(string | {text: string, path: string, line: number})[]} the text in pieces, paths apart
 */
export function pathPieces(text) {
  const pieces = [];
  let from = 0;
  for (const found of text.matchAll(WITHIN)) {
    if (found.index > from) pieces.push(text.slice(from, found.index));
    pieces.push({ text: found[0], path: found[1], line: Number(found[2]) });
    from = found.index + found[0].length;
  }
  if (from < text.length) pieces.push(text.slice(from));
  return pieces;
}

/**
 * @param {DocumentFragment} fragment
 * @param {OpenFile} open
 */
export function linkPaths(fragment, open) {
  for (const code of [...fragment.querySelectorAll('code')].slice(0, MAX_PATHS)) {
    if (code.closest('pre, a')) continue;
    const found = pathIn(code.textContent ?? '');
    if (found) code.replaceChildren(pathButton(code.textContent ?? '', found, open));
  }
  const walker = document.createTreeWalker(fragment, NodeFilter.SHOW_TEXT);
  const nodes = [];
  while (walker.nextNode() && nodes.length < 2000) nodes.push(/** @type {Text} */ (walker.currentNode));
  for (const node of nodes) {
    if (!/:\d/.test(node.data) || node.parentElement?.closest('code, pre, a, button')) continue;
    const pieces = pathPieces(node.data);
    if (pieces.length > 1 || typeof pieces[0] !== 'string')
      node.replaceWith(
        ...pieces.map((piece) => (typeof piece === 'string' ? piece : pathButton(piece.text, piece, open))),
      );
  }
}

/**
 * @param {string | (Node | string)[]} words
 * @param {{path: string, line: number}} place
 * @param {OpenFile} open
 */
export const pathButton = (words, { path, line }, open) =>
  h(
    'button',
    {
      type: 'button',
      class: 'path-link',
      title: 'Open it in Files',
      onclick: (/** @type {Event} */ event) => {
        event.preventDefault(); // in a line that opens, only the name does this
        event.stopPropagation();
        open(path, line);
      },
    },
    words,
  );
