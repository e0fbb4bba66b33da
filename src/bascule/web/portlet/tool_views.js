/** What an opened tool call shows, by the kind of tool. */

import { editsIn } from '../js/diff.js';
import { h } from '../js/dom.js';
import { fieldsOf } from '../js/json.js';
import { sanitize } from '../js/visible.js';
import { diffsOf, fileView } from './file_views.js';
import { markdown } from './markdown.js';
import { commandOf, laidOut } from './results.js';
import { fetchView, resultsView, searchView } from './search_views.js';
import { exact, pictures } from './shown.js';
import { codeView, commandView, outputView, prose } from './text_views.js';

/** @typedef {import('../js/types.d.ts').ToolEntry} ToolEntry */
/** @typedef {import('./view.js').View} View */

/**
 * @param {ToolEntry} tool
 * @param {View} view
 * @returns {{before: Node[], after: Node[]}} what stands above and below the calls inside it
 */
export function toolBody(tool, view) {
  const own = [...bodyByKind(tool, view), ...pictures(tool.images, 'Picture from the tool')];
  const task =
    tool.tool_kind === 'agent' ? own.filter((node) => /** @type {Element} */ (node).matches('.agent-task')) : own;
  return { before: task, after: own.filter((node) => !task.includes(node)) };
}

/**
 * @param {ToolEntry} tool
 * @param {View} view
 * @returns {Node[]}
 */
function bodyByKind(tool, view) {
  const input = fieldsOf(tool.input);
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
 * A sub-agent's task.
 * @param {Record<string, unknown>} input
 * @param {View} view
 * @returns {Node[]}
 */
const asked = (input, view) =>
  typeof input.prompt === 'string' && input.prompt
    ? [
        h(
          'details',
          { class: 'entry-line agent-task' },
          h(
            'summary',
            null,
            h('span', { class: 'entry-line__verb' }, 'Its task'),
            h('span', { class: 'entry-line__words' }, sanitize(input.prompt.trim().split('\n')[0])),
            h('span', { class: 'disclosure' }),
          ),
          h('div', { class: 'agent-message small' }, markdown(input.prompt, view.ask)),
        ),
      ]
    : [];

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
