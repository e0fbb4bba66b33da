/**
 * Code in colour. The highlighter's own tree is read and built as elements, so that its HTML is never needed;
 * the shell can use it, too, where no text may become markup.
 */

import hljs from '../vendor/highlight.js';
import { h } from './dom.js';
import { table } from './tables.js';

const MAX_CHARACTERS = 60_000;

/** @type {Record<string, string>} */
const BY_ENDING = table({
  py: 'python',
  js: 'javascript',
  mjs: 'javascript',
  ts: 'typescript',
  tsx: 'typescript',
  jsx: 'javascript',
  rs: 'rust',
  go: 'go',
  rb: 'ruby',
  java: 'java',
  c: 'c',
  h: 'c',
  cpp: 'cpp',
  cc: 'cpp',
  cs: 'csharp',
  css: 'css',
  html: 'xml',
  xml: 'xml',
  svg: 'xml',
  json: 'json',
  md: 'markdown',
  sh: 'bash',
  bash: 'bash',
  yml: 'yaml',
  yaml: 'yaml',
  toml: 'ini',
  ini: 'ini',
  sql: 'sql',
  php: 'php',
  swift: 'swift',
  kt: 'kotlin',
  lua: 'lua',
  pl: 'perl',
  r: 'r',
  diff: 'diff',
  makefile: 'makefile',
});

/** @typedef {{scope?: string, children: (Scope | string)[]}} Scope a part of the text, of one kind */

/** @param {string} path */
export const languageOf = (path) => BY_ENDING[(path.split('/').pop() ?? '').toLowerCase().split('.').pop() ?? ''] ?? '';

/**
 * @param {string} text
 * @param {string} language
 * @returns {Node | string} the text itself when it can't be coloured
 */
export function highlighted(text, language) {
  if (!language || text.length > MAX_CHARACTERS || !hljs.getLanguage(language)) return text;
  /** @type {{_emitter?: {rootNode?: Scope}}} */
  const { _emitter: emitter } = hljs.highlight(text, { language, ignoreIllegals: true });
  const tree = emitter?.rootNode;
  if (!tree) return text;
  const fragment = document.createDocumentFragment();
  fragment.append(...tree.children.map(drawn));
  return fragment;
}

/**
 * @param {Scope | string} node
 * @returns {Node | string}
 */
function drawn(node) {
  if (typeof node === 'string') return node;
  const children = node.children.map(drawn);
  if (!node.scope) return h('span', null, ...children);
  const [first, ...rest] = String(node.scope).split('.');
  const classes = [`hljs-${first}`, ...rest.map((part, n) => part + '_'.repeat(n + 1))];
  return h('span', { class: classes.join(' ') }, ...children);
}
