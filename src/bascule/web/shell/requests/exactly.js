/** What an agent wants to do, drawn whole and exactly: a command, a plan, an edit, or any tool with its input. */

import { counts, editsIn } from '../../js/diff.js';
import { h } from '../../js/dom.js';
import { nearPath } from '../../js/format.js';
import { highlighted, languageOf } from '../../js/highlight.js';
import { icon } from '../../js/icons.js';
import { fieldsOf } from '../../js/json.js';
import { diffView, plusMinus } from '../../js/lines.js';
import { table } from '../../js/tables.js';
import { hasHidden, visible } from '../../js/visible.js';
import { planView, shown } from './plan.js';

/**
 * In colour when nothing in it hides; otherwise what hides is all that counts.
 * @param {string} text
 * @param {string} language
 */
const coloured = (text, language) => h('span', null, hasHidden(text) ? shown(text) : highlighted(text, language));

/** What a request would do to a path, by its kind. @type {Record<string, string>} */
const VERBS = table({ edit: 'write', read: 'read', search: 'search in' });

/** @param {unknown} value */
function textOf(value) {
  if (typeof value === 'string') return value;
  const short = JSON.stringify(value) ?? '';
  return short.length < 80 ? short : JSON.stringify(value, null, 1);
}

/**
 * The exact thing that would happen, whole.
 * @param {import('../../js/types.d.ts').PermissionRequested} asked
 * @param {string} cwd
 * @returns {Node[]}
 */
export function exactly(asked, cwd) {
  const input = fieldsOf(asked.input);
  if (asked.kind === 'execute' && typeof input.command === 'string')
    return [
      h(
        'pre',
        { class: 'request__command' },
        h('span', { class: 'prompt-sign' }, '$ '),
        coloured(input.command, 'bash'),
      ),
    ];
  if (asked.kind === 'plan' && typeof input.plan === 'string')
    return [h('div', { class: 'request__command request-plan' }, planView(input.plan))];
  const edits = asked.kind === 'edit' ? editsIn(input) : [];
  if (edits.length) return edits.flatMap((edit) => editView(edit, cwd));
  if (asked.kind === 'read' || (asked.kind === 'fetch' && typeof input.url === 'string'))
    return [
      h(
        'pre',
        { class: 'request__command' },
        shown(String(input.file_path ?? input.path ?? input.url ?? textOf(input))),
      ),
    ];
  return anyTool(asked.tool, input);
}

/**
 * @param {ReturnType<typeof editsIn>[number]} edit
 * @param {string} cwd
 */
function editView({ path, lines }, cwd) {
  const { added, removed } = counts(lines);
  return [
    h(
      'p',
      { class: 'request__meta is-top' },
      h('span', { title: visible(path) }, icon('edit', 14), shown(nearPath(path, cwd))),
      plusMinus(added, removed),
    ),
    h(
      'div',
      { class: 'request__diff' },
      diffView(lines, (text) => coloured(text, languageOf(path))),
    ),
  ];
}

/**
 * @param {unknown} tool
 * @param {object} input
 */
const anyTool = (tool, input) => [
  h('p', { class: 'request__meta is-top' }, h('span', null, icon('code', 14), shown(String(tool)))),
  h(
    'dl',
    { class: 'params request__command' },
    Object.entries(input).flatMap(([name, value]) => [h('dt', null, shown(name)), h('dd', null, shown(textOf(value)))]),
  ),
];

/**
 * Does anything in it not show? Every field a person judges by is looked at.
 * @param {import('../../js/types.d.ts').PermissionRequested} asked
 */
export function hides(asked) {
  const parts = [asked.tool, asked.title, asked.note ?? '', asked.blocked_path ?? ''];
  const walk = (/** @type {unknown} */ value) => {
    if (typeof value === 'string') parts.push(value);
    else if (value && typeof value === 'object')
      Object.entries(value).forEach(([name, one]) => {
        parts.push(name);
        walk(one);
      });
  };
  walk(asked.input);
  return parts.some((part) => hasHidden(part));
}

/**
 * Why a person is asked. "Outside" is said only of what is outside the session's folder.
 * @param {import('../../js/types.d.ts').PermissionRequested} asked
 * @param {string} cwd
 */
export function reasonWords(asked, cwd) {
  const path = asked.blocked_path;
  if (path && isOutside(path, cwd))
    return ['You are asked because ', h('code', null, shown(path)), ' is outside the folder of this session.'];
  if (path)
    return [
      `You are asked because it would ${VERBS[asked.kind] ?? 'use'} `,
      h('code', null, shown(nearPath(path, cwd))),
      '.',
    ];
  const input = fieldsOf(asked.input);
  if (asked.kind === 'execute')
    return [
      'You are asked because no rule covers ',
      h(
        'code',
        null,
        visible(
          String(input.command ?? asked.tool)
            .trim()
            .split(/\s+/)[0],
        ).slice(0, 60),
      ),
      '.',
    ];
  if (asked.kind === 'edit') return ['You are asked because edits always need your OK.'];
  if (asked.kind === 'plan') return ['It starts once you approve. You are still asked about each action.'];
  return ['You are asked because no rule covers ', h('code', null, visible(asked.tool)), '.'];
}

/**
 * A path with steps up counts as outside unless it plainly is not; one that is relative is below the folder.
 * @param {string} path
 * @param {string} cwd
 */
export function isOutside(path, cwd) {
  if (/(^|\/)\.\.(\/|$)/.test(path)) return true;
  if (!path.startsWith('/')) return path.startsWith('~');
  const folder = cwd.replace(/\/+$/, '');
  return path !== folder && !path.startsWith(`${folder}/`);
}
