/** What a tool call looked for, here or in the web, and what it found. */

import { copyButton } from '../js/copy_button.js';
import { h } from '../js/dom.js';
import { count, nearPath } from '../js/format.js';
import { highlighted, languageOf } from '../js/highlight.js';
import { sanitize } from '../js/visible.js';
import { searchResults, webResults } from './results.js';
import { exact, plain } from './shown.js';
import { outputView, prose } from './text_views.js';

/** @typedef {import('../js/types.d.ts').ToolEntry} ToolEntry */
/** @typedef {import('./view.js').View} View */

const MAX_LINES = 400; // of one file
const MAX_FILES = 60;

/**
 * What was looked for, and where; what alone is in the line above.
 * @param {ToolEntry} tool
 * @param {Record<string, unknown>} input
 * @param {View} view
 * @returns {Node[]}
 */
export function searchView(tool, input, view) {
  const where = [input.path ? nearPath(String(input.path), view.cwd) : '', input.glob, input.type].filter(
    (one) => typeof one === 'string' && one,
  );
  return where.length
    ? [
        h(
          'p',
          { class: 'fname' },
          h('code', null, exact(String(input.pattern ?? input.query ?? tool.title))),
          ' in ',
          h('code', null, exact(where.join(', '))),
        ),
      ]
    : [];
}

/**
 * @param {ToolEntry} tool
 * @param {View} view
 * @returns {Node[]}
 */
export function resultsView(tool, view) {
  const web = webResults(tool.output);
  if (web.links.length) return [linksView(web.links, view), ...prose(web.rest, view)];
  const found = searchResults(tool.output);
  if (!found) return [outputView(tool.output, view)];
  const shown = found.files.slice(0, MAX_FILES);
  return [
    h(
      'div',
      { class: 'tool__output-frame' },
      h(
        'div',
        { class: 'tool__output search-hits', tabindex: 0, role: 'group', 'aria-label': 'Results' },
        shown.map((file) =>
          h(
            'section',
            null,
            h('p', null, exact(nearPath(file.path, view.cwd))),
            file.rows
              .slice(0, MAX_LINES)
              .map((row) =>
                h(
                  'div',
                  { class: 'search-hit' },
                  h('span', { class: 'line-number' }, String(row.line ?? '')),
                  h('code', null, highlighted(sanitize(row.text), languageOf(file.path))),
                ),
              ),
          ),
        ),
        found.files.length > shown.length &&
          h('p', null, `And ${count(found.files.length - shown.length, 'more file')}.`),
      ),
      copyButton('Copy results', () => view.ask.copy(tool.output)),
    ),
  ];
}

/**
 * @param {{title: string, url: string}[]} links
 * @param {View} view
 */
const linksView = (links, view) =>
  h(
    'ul',
    { class: 'links' },
    links
      .slice(0, MAX_FILES)
      .map(({ title, url }) =>
        h(
          'li',
          null,
          /^https?:\/\//i.test(url) ? linkTo(url, sanitize(title), view) : sanitize(title),
          h('small', null, exact(hostOf(url))),
        ),
      ),
  );

/**
 * @param {string} url
 * @param {string} words
 * @param {View} view
 */
const linkTo = (url, words, view) =>
  h(
    'a',
    {
      href: url,
      title: plain(url),
      onclick: (/** @type {Event} */ event) => {
        event.preventDefault();
        view.ask.link(url);
      },
    },
    words,
  );

/** @param {string} url */
const hostOf = (url) => /^https?:\/\/([^/?#]+)/i.exec(url)?.[1] ?? url.slice(0, 80);

/**
 * @param {Record<string, unknown>} input
 * @param {View} view
 */
export function fetchView(input, view) {
  if (typeof input.url !== 'string') return null;
  const link = /^https?:\/\//i.test(input.url)
    ? linkTo(input.url, plain(input.url), view)
    : h('span', null, exact(input.url));
  return h(
    'p',
    { class: 'fname' },
    link,
    typeof input.prompt === 'string' && input.prompt && h('small', null, sanitize(input.prompt)),
  );
}
