/**
 * Agent prose to elements: GFM by marked, then DOMPurify with a short list of what may stay. Only here, inside
 * the sandboxed frame, does text ever become markup; and it comes out as a fragment, never as a string.
 */

import { Marked } from '../vendor/marked.js';
import DOMPurify from '../vendor/purify.js';
import { h, iconButton } from '../js/dom.js';
import { highlighted } from '../js/highlight.js';
import { tame } from '../js/visible.js';

const marked = new Marked({ gfm: true, breaks: false });

const TAGS = [
  'p', 'br', 'hr', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'strong', 'em', 'del', 'code', 'pre', 'blockquote', 'ul',
  'ol', 'li', 'a', 'table', 'thead', 'tbody', 'tr', 'th', 'td', 'input', 'img', 'sub', 'sup', 'kbd', 'details', 'summary',
];
const ATTRIBUTES = ['href', 'class', 'align', 'start', 'type', 'checked', 'disabled', 'alt', 'src'];
const MOST_MARKDOWN = 200_000;

/**
 * @param {string} text
 * @param {{copy: (text: string) => void, link: (href: string) => void}} ask
 * @returns {DocumentFragment}
 */
export function markdown(text, ask) {
  const clean = tame(text);
  if (clean.length > MOST_MARKDOWN) {
    const plain = document.createDocumentFragment();
    plain.append(h('pre', { class: 'plain' }, clean));
    return plain;
  }
  const html = /** @type {string} */ (marked.parse(clean, { async: false }));
  const fragment = /** @type {DocumentFragment} */ (/** @type {any} */ (DOMPurify).sanitize(html, {
    ALLOWED_TAGS: TAGS, ALLOWED_ATTR: ATTRIBUTES, ALLOW_DATA_ATTR: false, ALLOW_ARIA_ATTR: false,
    ALLOWED_URI_REGEXP: /^(?:https?:|mailto:)/i, RETURN_DOM_FRAGMENT: true,
  }));
  for (const image of fragment.querySelectorAll('img')) image.replaceWith(imageWords(image));
  for (const link of fragment.querySelectorAll('a')) tameLink(link, ask);
  for (const box of fragment.querySelectorAll('input')) {
    if (box.getAttribute('type') !== 'checkbox') box.remove();
    else box.setAttribute('aria-label', box.checked ? 'done' : 'to do');
  }
  for (const pre of fragment.querySelectorAll('pre')) pre.replaceWith(codeBlock(pre, ask));
  for (const table of fragment.querySelectorAll('table')) {
    const wrap = h('div', { class: 'tbl', tabindex: 0, role: 'group', 'aria-label': 'Table' });
    table.replaceWith(wrap);
    wrap.append(table);
  }
  // What is left of classes is only what the code blocks need; these may not borrow the page's own.
  for (const element of fragment.querySelectorAll(':not(.cb, .cb *, .tbl, .far)')) element.removeAttribute('class');
  return fragment;
}

/** Pictures from elsewhere would tell elsewhere that somebody looks: they become words. @param {HTMLImageElement} image */
function imageWords(image) {
  const alt = image.getAttribute('alt') || 'Picture';
  const source = image.getAttribute('src') ?? '';
  return h('span', { class: 'far', title: source }, `[${alt}]`);
}

/** @param {HTMLAnchorElement} link @param {{link: (href: string) => void}} ask */
function tameLink(link, ask) {
  const href = link.getAttribute('href') ?? '';
  if (!/^https?:\/\//i.test(href)) {
    link.replaceWith(...link.childNodes);
    return;
  }
  link.title = href;
  link.onclick = (event) => {
    event.preventDefault();
    ask.link(href);
  };
}

/** @param {HTMLPreElement} pre @param {{copy: (text: string) => void}} ask */
function codeBlock(pre, ask) {
  const code = pre.querySelector('code');
  const language = /language-([\w+#.-]+)/.exec(code?.className ?? '')?.[1] ?? '';
  const text = (code ?? pre).textContent ?? '';
  return h('div', { class: 'cb' },
    h('header', null, h('span', null, language || 'text'), iconButton('copy', 'Copy code', { onclick: () => ask.copy(text) })),
    h('pre', { tabindex: 0 }, h('code', null, highlighted(text.replace(/\n$/, ''), language))));
}
