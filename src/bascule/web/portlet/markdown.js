/**
 * Agent prose to elements: GFM by marked, then DOMPurify with a short list of what may stay. Only here, inside
 * the sandboxed frame, does text ever become markup; and it comes out as a fragment, never as a string.
 */

import { Marked } from '../vendor/marked.js';
import DOMPurify from '../vendor/purify.js';
import { copyButton } from '../js/copy_button.js';
import { h, iconButton } from '../js/dom.js';
import { highlighted } from '../js/highlight.js';
import { sanitize } from '../js/visible.js';
import { diagramBlock, formula } from './drawing.js';
import { MATH } from './math_marks.js';
import { linkPaths } from './paths.js';

/**
 * @typedef {{
 *   copy: (text: string) => void,
 *   link: (href: string) => void,
 *   file?: (path: string, line: number) => void,
 *   draw?: (wanted: import('./drawing.js').Wanted) => Promise<import('./drawing.js').Drawn>,
 * }} Ask
 */

/** @typedef {{type: string, raw: string}} Token */

/** A note's mark, and the note itself, at the place where it was written. */
const FOOTNOTES = [
  {
    name: 'footnote',
    level: 'block',
    /** @param {string} text */
    start: (text) => text.match(/^\[\^/m)?.index,
    /**
     * @this {{lexer: {inlineTokens: (text: string) => Token[]}}}
     * @param {string} text
     */
    tokenizer(text) {
      const found = /^\[\^([\w-]{1,40})\]:[ \t]*([^\n]*(?:\n(?!\n|\[\^)[^\n]*)*)(?:\n|$)/.exec(text);
      if (!found) return undefined;
      return { type: 'footnote', raw: found[0], label: found[1], tokens: this.lexer.inlineTokens(found[2]) };
    },
    /**
     * @this {{parser: {parseInline: (tokens: Token[]) => string}}}
     * @param {{label: string, tokens: Token[]}} token
     */
    renderer(token) {
      return `<p><sup>${token.label}</sup> ${this.parser.parseInline(token.tokens)}</p>`;
    },
  },
  {
    name: 'footnoteMark',
    level: 'inline',
    /** @param {string} text */
    start: (text) => text.match(/\[\^/)?.index,
    /** @param {string} text */
    tokenizer(text) {
      const found = /^\[\^([\w-]{1,40})\](?!:)/.exec(text);
      return found ? { type: 'footnoteMark', raw: found[0], label: found[1] } : undefined;
    },
    /** @param {{label: string}} token */
    renderer: (token) => `<sup>${token.label}</sup>`,
  },
];

const marked = new Marked({ gfm: true, breaks: false, extensions: [...FOOTNOTES, ...MATH] });

const TAGS = [
  'p',
  'br',
  'hr',
  'h1',
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
  'strong',
  'em',
  'del',
  'code',
  'pre',
  'blockquote',
  'ul',
  'ol',
  'li',
  'a',
  'table',
  'thead',
  'tbody',
  'tr',
  'th',
  'td',
  'input',
  'img',
  'sub',
  'sup',
  'kbd',
  'details',
  'summary',
];
const ATTRIBUTES = ['href', 'class', 'align', 'start', 'type', 'checked', 'disabled', 'alt', 'src'];
// Each runs as its own first letters do.
const WRITTEN = 'p, li, td, th, h1, h2, h3, h4, h5, h6, blockquote, summary, ul, ol';
const MAX_MARKDOWN = 200_000;
const MAX_MARKS = 3000; // the parser's time grows with their square
const FAR = /^https?:\/\//i;
export const PICTURE = /^image\/(?:png|jpeg|gif|webp)$/;

/**
 * @param {string} text
 * @param {Ask} ask
 * @returns {DocumentFragment}
 */
export function markdown(text, ask) {
  const clean = sanitize(text);
  const fragment = clean.length > MAX_MARKDOWN ? null : purified(clean);
  if (!fragment) {
    const plain = document.createDocumentFragment();
    plain.append(h('pre', { class: 'plain' }, clean));
    return plain;
  }
  // Before anything of ours is in it: the agent's markup may not borrow the page's classes.
  for (const element of fragment.querySelectorAll('[class]')) {
    const language = element.matches('pre > code')
      ? /(?:^| )language-[\w+#.-]+/.exec(element.className)?.[0].trim()
      : undefined;
    if (language) element.className = language;
    else element.removeAttribute('class');
  }
  for (const element of fragment.querySelectorAll(WRITTEN)) element.setAttribute('dir', 'auto');
  for (const image of fragment.querySelectorAll('img')) image.replaceWith(picture(image));
  for (const link of fragment.querySelectorAll('a')) sanitizeLink(link, ask);
  for (const box of fragment.querySelectorAll('input')) {
    if (box.getAttribute('type') !== 'checkbox') box.remove();
    else {
      box.closest('li')?.classList.add('task');
      box.replaceWith(
        h('input', {
          type: 'checkbox',
          disabled: true,
          checked: box.hasAttribute('checked'),
          'aria-label': box.hasAttribute('checked') ? 'done' : 'to do',
        }),
      );
    }
  }
  for (const code of fragment.querySelectorAll('code[type^=math]')) {
    const display = code.getAttribute('type') === 'math-display';
    const place = display && code.parentElement?.matches('p') ? code.parentElement : code;
    place.replaceWith(formula(code.textContent ?? '', display, ask));
  }
  if (ask.file) linkPaths(fragment, ask.file);
  for (const pre of fragment.querySelectorAll('pre')) pre.replaceWith(codeBlock(pre, ask));
  for (const table of fragment.querySelectorAll('table')) {
    const wrap = h('div', { class: 'data-table', tabindex: 0, role: 'group', 'aria-label': 'Table' });
    table.replaceWith(wrap);
    wrap.append(table);
  }
  return fragment;
}

/**
 * @param {string} text
 * @returns {DocumentFragment | null} null for what can't be read as Markdown: it is shown as it was written
 */
function purified(text) {
  if (!/^(?:```|~~~)/.test(text) && (text.match(/[*_~[<]/g)?.length ?? 0) > MAX_MARKS) return null;
  let html;
  try {
    html = marked.parse(text, { async: false });
  } catch {
    return null; // nested deeper than the parser goes
  }
  // A document made of frames has no body, and then there is nothing to return.
  return DOMPurify.sanitize(html, {
    ALLOWED_TAGS: TAGS,
    ALLOWED_ATTR: ATTRIBUTES,
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    ALLOWED_URI_REGEXP: /^(?:https?:|mailto:)/i,
    ADD_URI_SAFE_ATTR: ['align', 'start', 'type', 'checked', 'disabled'],
    RETURN_DOM_FRAGMENT: true,
  });
}

/**
 * Pictures from elsewhere would tell elsewhere that somebody looks: they become words, which link to the picture unless
 * they are in a link already.
 * @param {HTMLImageElement} image
 */
function picture(image) {
  const alt = image.getAttribute('alt') || 'Picture';
  const source = image.getAttribute('src') ?? '';
  const inside = /^data:(image\/[a-z]+);base64,[A-Za-z0-9+/=\s]+$/.exec(source);
  if (inside && PICTURE.test(inside[1])) return h('img', { class: 'picture', alt, src: source });
  const words = `[${alt}${hostOf(source)}]`;
  const isInLink = FAR.test(image.closest('a')?.getAttribute('href') ?? '');
  if (!FAR.test(source) || isInLink) return h('span', { class: 'is-far', title: source }, words);
  return h('a', { class: 'is-far', href: source }, words);
}

/**
 * @param {string} source
 * @returns {string} why it is not shown
 */
function hostOf(source) {
  const host = /^https?:\/\/([^/?#]+)/i.exec(source)?.[1];
  return host ? `: picture from ${host}, not loaded` : ': picture, not loaded';
}

/**
 * @param {HTMLAnchorElement} link
 * @param {{link: (href: string) => void}} ask
 */
function sanitizeLink(link, ask) {
  const href = link.getAttribute('href') ?? '';
  if (!FAR.test(href)) {
    link.replaceWith(...link.childNodes);
    return;
  }
  link.title = href;
  link.onclick = (event) => {
    event.preventDefault();
    ask.link(href);
  };
}

/**
 * @param {HTMLPreElement} pre
 * @param {Ask} ask
 */
function codeBlock(pre, ask) {
  const code = pre.querySelector('code');
  const language = /language-([\w+#.-]+)/.exec(code?.className ?? '')?.[1] ?? '';
  const text = (code ?? pre).textContent ?? '';
  if (language === 'mermaid') return diagramBlock(text, ask);
  return codeFrame(language, [highlighted(text.replace(/\n$/, ''), language)], () => ask.copy(text));
}

/**
 * @param {string} language
 * @param {(Node | string)[]} content
 * @param {() => void} copy
 */
export const codeFrame = (language, content, copy) =>
  h(
    'div',
    { class: 'code-block' },
    h(
      'header',
      null,
      h('span', null, language || 'text'),
      h('span', { class: 'code-block__acts' }, wrapButton(), copyButton('Copy code', copy)),
    ),
    h('pre', { tabindex: 0 }, h('code', null, content)),
  );

const wrapButton = () =>
  iconButton('wrap', 'Wrap long lines', {
    class: 'code-block__wrap',
    'aria-pressed': 'false',
    onclick: (/** @type {On<HTMLElement>} */ event) => {
      const wrapped = event.currentTarget.closest('.code-block')?.classList.toggle('is-wrapped') ?? false;
      event.currentTarget.setAttribute('aria-pressed', String(wrapped));
    },
  });
