/** Fields of the forms about rules: a label, a choice, and the folders and agents to choose from. */

import { h } from '../../js/dom.js';
import { folderName } from '../../js/format.js';
import { allAgents } from '../machines.js';
import { homeOf } from '../sessions.js';

/** @typedef {import('../state.js').State} State */

/** @param {State} state */
export function foldersOf(state) {
  return [
    ...new Set(
      [...state.projects.map((project) => project.path), ...Object.values(state.sessions).map(homeOf)].filter(Boolean),
    ),
  ].sort();
}

/**
 * @param {string} label
 * @param {import('../../js/dom.js').Child} field
 */
export const labelled = (label, field) => h('label', null, h('span', null, label), field);

/**
 * @template {string | number} Value
 * @param {string} name
 * @param {readonly (readonly [Value, string])[]} options
 * @param {Value} value
 * @param {(value: Value) => void} set
 * @param {string | null} [label] when none stands beside it
 */
export const select = (name, options, value, set, label = null) =>
  h(
    'select',
    {
      class: 'input',
      name,
      'aria-label': label,
      value: String(value),
      onchange: (/** @type {On<HTMLInputElement>} */ event) => set(/** @type {Value} */ (event.currentTarget.value)),
    },
    options.map(([one, text]) =>
      h('option', { value: String(one), ...(String(one) === String(value) ? { selected: true } : {}) }, text),
    ),
  );

/**
 * @param {State} state
 * @param {string} folder
 */
export const places = (state, folder) =>
  /** @type {[string, string][]} */ ([
    ['', 'Every project'],
    ...[...new Set([...foldersOf(state), ...(folder ? [folder] : [])])].map((one) => [
      one,
      `${folderName(one)} (${one})`,
    ]),
  ]);

/**
 * @param {State} state
 * @param {string} none what no choice means
 */
export const agentOptions = (state, none) =>
  /** @type {[string, string][]} */ ([['', none], ...allAgents(state).map((agent) => [agent.name, agent.title])]);
