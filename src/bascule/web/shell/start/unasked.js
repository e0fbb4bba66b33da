/** What an agent runs without asking, said wherever it is chosen or at work. */

import { h } from '../../js/dom.js';
import { icon } from '../../js/icons.js';

/** @typedef {import('../state.js').AgentInfo} AgentInfo */

/**
 * A sentence each, for the way it is talked to.
 * @param {AgentInfo | undefined} agent
 * @param {string} [driver] the preferred one, unless said
 * @returns {string[]}
 */
export function unaskedOf(agent, driver) {
  const byDriver = new Map(Object.entries(agent?.unasked ?? {}));
  return byDriver.get(driver ?? agent?.drivers?.[0] ?? '') ?? [];
}

/** @param {string[]} said */
export const unaskedLines = (said) =>
  said.length > 0 &&
  h(
    'ul',
    { class: 'unasked', 'data-key': 'unasked', 'aria-label': 'What this agent does without asking' },
    said.map((one) => h('li', { 'data-key': one }, icon('alert', 14), h('span', null, one))),
  );
