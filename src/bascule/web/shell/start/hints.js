/** Where a task comes from, and what was asked for and can't be had, so that nobody believes otherwise. */

import { h } from '../../js/dom.js';
import { visible } from '../../js/visible.js';
import { agentsOf } from '../machines.js';
import { hasPlan } from './chips.js';

/**
 * @param {import('../state.js').State} state
 * @param {import('./chips.js').Choices} chosen
 * @param {import('./chips.js').Wanted} wanted
 * @param {string} offeredBy the web page that the task comes from, if it comes from one
 */
export function taskHints(state, { agent, device }, wanted, offeredBy) {
  const known = agentsOf(state, device?.device ?? '').length > 0;
  const missing = wanted.agent && known && agent?.name !== wanted.agent;
  const from = offeredBy && `This prompt comes from ${visible(offeredBy)}. Read it, then press Start.`;
  return [
    from && h('p', { class: 'hint', role: 'status', 'data-key': 'offered' }, from),
    missing && h('p', { class: 'hint', 'data-key': 'missing' }, `${visible(wanted.agent)} is not ready here.`),
    wanted.plan &&
      agent &&
      !hasPlan(agent) &&
      h('p', { class: 'hint', 'data-key': 'planless' }, `${agent.title} has no plan mode: it asks first.`),
  ];
}
