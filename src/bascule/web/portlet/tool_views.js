/** What an opened tool call shows, by the kind of tool. */

import { ansiPieces } from '../js/ansi.js';
import { editsIn, patchLines } from '../js/diff.js';
import { h, iconButton } from '../js/dom.js';
import { highlighted, languageOf } from '../js/highlight.js';
import { diffView } from '../js/lines.js';
import { hasHidden, tame } from '../js/visible.js';
import { count, nearPath } from '../js/format.js';
import { markdown } from './markdown.js';
import { commandOf, fileLines, laidOut, searchResults, webResults } from './results.js';
import { exact, pictures, plain } from './shown.js';

/** @typedef {import('../js/types.d.ts').ToolEntry} ToolEntry */
/** @typedef {import('./view.js').View} View */

const MAX_LINES = 400;
const MAX_FILES = 60;

/**
 * @param {ToolEntry} tool
 * @param {View} view
 * @returns {{before: Node[], after: Node[]}} what stands above and below the calls inside it
 */
export function toolBody(tool, view) {
  const own = [...bodyByKind(tool, view), ...pictures(tool.images, 'Picture from the tool')];
  const told = tool.tool_kind === 'agent' ? own.filter((node) => /** @type {Element} */ (node).matches('.told')) : own;
  return { before: told, after: own.filter((node) => !told.includes(node)) };
}

/**
 * @param {ToolEntry} tool
 * @param {View} view
 * @returns {Node[]}
 */
function bodyByKind(tool, view) {
  const input = tool.input && typeof tool.input === 'object' ? /** @type {any} */ (tool.input) : {};
  const broken = tool.status === 'failed' || tool.status === 'denied';
  const output = tool.output ? [outputView(tool.output, view)] : [];
  switch (tool.tool_kind) {
    case 'execute':
      return [commandView(commandOf(input, tool.title), input.description, view), ...output];
    case 'edit':
      return [...diffsOf(tool, view), ...(broken || !(tool.diffs.length || editsIn(tool.input).length) ? output : [])];
    case 'read':
      return broken ? output : tool.output ? [fileView(tool, input, view)] : [];
    case 'search':
      return broken ? output : [...searchView(tool, input, view), ...(tool.output ? resultsView(tool, view) : [])];
    case 'fetch':
      return [fetchView(input, view), ...(broken ? output : prose(tool.output, view))].filter((node) => node !== null);
    case 'agent':
      return [...asked(input, view), ...(broken ? output : prose(tool.output, view))];
    case 'plan':
      return typeof input.plan === 'string' ? prose(input.plan, view) : output;
    case 'think':
      return prose(typeof input.thought === 'string' ? input.thought : tool.output, view);
    default:
      return [
        ...parameters(tool.input),
        ...(laidOut(tool.output) !== null ? [codeView(laidOut(tool.output) ?? '', 'json', view)] : output),
      ];
  }
}

/**
 * @param {string} text
 * @param {View} view
 * @returns {Node[]}
 */
const prose = (text, view) => (text.trim() ? [h('div', { class: 'ma small' }, markdown(text, view.ask))] : []);

/**
 * @param {string} command
 * @param {unknown} note
 * @param {View} view
 */
function commandView(command, note, view) {
  return h(
    'div',
    { class: 'cmdl' },
    h(
      'pre',
      null,
      h('span', { class: 'pr', 'aria-hidden': 'true' }, '$ '),
      h('code', null, hasHidden(command) ? exact(command) : highlighted(command, 'bash')),
    ),
    typeof note === 'string' && note && h('p', { class: 'says' }, tame(note)),
    iconButton('copy', 'Copy command', { onclick: () => view.ask.copy(command) }),
  );
}

/**
 * @param {string} text
 * @param {View} view
 */
function outputView(text, view) {
  const rows = text.replace(/\s+$/, '').split('\n');
  const pre = h('pre', { class: 'out', tabindex: 0 }, coloured(rows.slice(-MAX_LINES).join('\n')));
  const rest = rows.length - MAX_LINES;
  const more =
    rest > 0 &&
    h(
      'button',
      {
        type: 'button',
        class: 'lnk',
        onclick: () => {
          pre.replaceChildren(...coloured(rows.join('\n')));
          more.remove();
        },
      },
      `Show ${count(rest, 'earlier line')}`,
    );
  return h(
    'div',
    { class: 'outw' },
    more,
    pre,
    iconButton('copy', 'Copy output', { onclick: () => view.ask.copy(text) }),
  );
}

/**
 * @param {string} text
 * @returns {(Node | string)[]}
 */
const coloured = (text) =>
  ansiPieces(text).map((piece) =>
    piece.classes.length ? h('span', { class: piece.classes.join(' ') }, tame(piece.text)) : tame(piece.text),
  );

/**
 * @param {string} text
 * @param {string} language
 * @param {View} view
 */
const codeView = (text, language, view) =>
  h(
    'div',
    { class: 'outw' },
    h('pre', { class: 'out code', tabindex: 0 }, highlighted(tame(text), language)),
    iconButton('copy', 'Copy', { onclick: () => view.ask.copy(text) }),
  );

/**
 * @param {ToolEntry} tool
 * @param {any} input
 * @param {View} view
 */
function fileView(tool, input, view) {
  const path = String(input.file_path ?? input.path ?? tool.locations[0]?.path ?? '');
  const begins = Number.isSafeInteger(input.offset) ? input.offset : (tool.locations[0]?.line ?? null);
  const all = fileLines(tool.output, begins);
  const lines = all.slice(0, MAX_LINES);
  const text = lines.map((one) => one.text).join('\n');
  return h(
    'div',
    { class: 'outw' },
    h(
      'div',
      { class: 'out code nums', tabindex: 0, role: 'group', 'aria-label': `Text of ${plain(path)}` },
      lines.some((one) => one.line !== null) &&
        h('pre', { class: 'gut', 'aria-hidden': 'true' }, lines.map((one) => one.line ?? '').join('\n')),
      h('pre', null, highlighted(tame(text), languageOf(path))),
    ),
    all.length > lines.length &&
      h('p', { class: 'fname' }, `${count(all.length - lines.length, 'more line')} of it were read.`),
    iconButton('copy', 'Copy', { onclick: () => view.ask.copy(all.map((one) => one.text).join('\n')) }),
  );
}

/**
 * What was looked for, and where; what alone is in the line above.
 * @param {ToolEntry} tool
 * @param {any} input
 * @param {View} view
 * @returns {Node[]}
 */
function searchView(tool, input, view) {
  const where = [input.path && nearPath(String(input.path), view.cwd), input.glob, input.type].filter(
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
function resultsView(tool, view) {
  const web = webResults(tool.output);
  if (web.links.length) return [linksView(web.links, view), ...prose(web.rest, view)];
  const found = searchResults(tool.output);
  if (!found) return [outputView(tool.output, view)];
  const shown = found.files.slice(0, MAX_FILES);
  return [
    h(
      'div',
      { class: 'outw' },
      h(
        'div',
        { class: 'out hits', tabindex: 0, role: 'group', 'aria-label': 'Results' },
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
                  { class: 'hit' },
                  h('span', { class: 'ln' }, String(row.line ?? '')),
                  h('code', null, highlighted(tame(row.text), languageOf(file.path))),
                ),
              ),
          ),
        ),
        found.files.length > shown.length &&
          h('p', null, `And ${count(found.files.length - shown.length, 'more file')}.`),
      ),
      iconButton('copy', 'Copy results', { onclick: () => view.ask.copy(tool.output) }),
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
          /^https?:\/\//i.test(url) ? linkTo(url, tame(title), view) : tame(title),
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
 * @param {any} input
 * @param {View} view
 */
function fetchView(input, view) {
  if (typeof input.url !== 'string') return null;
  const link = /^https?:\/\//i.test(input.url)
    ? linkTo(input.url, plain(input.url), view)
    : h('span', null, exact(input.url));
  return h(
    'p',
    { class: 'fname' },
    link,
    typeof input.prompt === 'string' && input.prompt && h('small', null, tame(input.prompt)),
  );
}

/**
 * What a sub-agent was told.
 * @param {any} input
 * @param {View} view
 * @returns {Node[]}
 */
const asked = (input, view) =>
  typeof input.prompt === 'string' && input.prompt
    ? [
        h(
          'details',
          { class: 'ln1 told' },
          h(
            'summary',
            null,
            h('span', { class: 'v' }, 'Its task'),
            h('span', { class: 'w' }, tame(input.prompt.trim().split('\n')[0])),
            h('span', { class: 'car' }),
          ),
          h('div', { class: 'ma small' }, markdown(input.prompt, view.ask)),
        ),
      ]
    : [];

/**
 * @param {ToolEntry} tool
 * @param {View} view
 * @returns {Node[]}
 */
function diffsOf(tool, view) {
  const files = tool.diffs.length
    ? tool.diffs.map((one) => ({ path: one.path, lines: patchLines(one.patch) }))
    : editsIn(tool.input);
  return files.flatMap(({ path, lines }) => {
    const language = languageOf(path);
    const shown = lines.slice(0, MAX_LINES);
    return [
      files.length > 1 ? h('p', { class: 'fname' }, exact(nearPath(path, view.cwd))) : null,
      diffView(
        shown.map((line) => (line.kind === 'head' ? { ...line, text: plain(line.text) } : line)),
        (text) => highlighted(tame(text), language),
      ),
      lines.length > shown.length
        ? h(
            'p',
            { class: 'fname' },
            `${count(lines.length - shown.length, 'more line')} of this change can be seen under View changes.`,
          )
        : null,
    ].filter((node) => node !== null);
  });
}

/**
 * @param {unknown} input
 * @returns {Node[]}
 */
function parameters(input) {
  const rows = Object.entries(input && typeof input === 'object' ? input : { input });
  if (!rows.length) return [];
  return [
    h(
      'dl',
      { class: 'params' },
      rows
        .slice(0, 40)
        .flatMap(([name, value]) => [
          h('dt', null, exact(name.slice(0, 200))),
          h(
            'dd',
            null,
            exact((typeof value === 'string' ? value : (JSON.stringify(value, null, 1) ?? '')).slice(0, 8000)),
          ),
        ]),
    ),
  ];
}
