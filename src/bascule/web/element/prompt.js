/** Where `<bascule-launch>` gets its prompt from: an attribute, an element of the page, a Quill editor or a Delta. */

import { deltaToMarkdown, deltaToText } from '../js/delta.js';

/** @typedef {{getContents: () => import('../js/types.d.ts').Delta}} Editor of Quill's kind */
/**
 * @typedef {object} Source
 * @property {string | null} text
 * @property {string | null} selector
 * @property {Editor | null} quill
 * @property {unknown} delta
 * @property {string | null} format `text`, or Markdown
 */

/**
 * @param {Source} source
 * @returns {string}
 */
export function promptFrom({ text, selector, quill, delta, format }) {
  const converted = format === 'text' ? deltaToText : deltaToMarkdown;
  if (quill) return withoutLastBreak(converted(quill.getContents()));
  if (delta !== null && delta !== undefined)
    return withoutLastBreak(converted(typeof delta === 'string' ? JSON.parse(delta) : delta));
  if (text !== null) return text;
  if (!selector) return '';
  const found = document.querySelector(selector);
  if (!found) throw new Error(`There is no element ${selector} on this page.`);
  const editor = quillAt(found);
  if (editor) return promptFrom({ text: null, selector: null, quill: editor, delta: null, format });
  return 'value' in found ? String(found.value) : (found.textContent ?? '');
}

/**
 * Quill ends every document with a line break that nobody typed.
 * @param {string} text
 */
const withoutLastBreak = (text) => (text.endsWith('\n') ? text.slice(0, -1) : text);

/** @param {Element} element */
function quillAt(element) {
  const { Quill } = /** @type {{Quill?: {find?: (element: Element) => Editor | null}}} */ (globalThis);
  const known = Quill?.find?.(element);
  return known && typeof known.getContents === 'function' ? known : null;
}
