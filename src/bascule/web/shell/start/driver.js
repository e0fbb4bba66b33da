/** How an agent is talked to, where there are several ways: its own protocol, or an ACP adapter. */

import { h } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { menu } from '../parts.js';

/** @typedef {import('../state.js').AgentInfo} AgentInfo */
/** @typedef {NonNullable<import('../../js/types.d.ts').CreateBody['driver']>} Driver */

/** @type {Map<string, [string, string]>} */
const WORDS = new Map([
  ['stream_json', ['stream-json', 'the agent’s own protocol']],
  ['codex', ['app-server', 'the agent’s own protocol']],
  ['acp', ['ACP', 'through its Agent Client Protocol adapter']],
  ['plain', ['plain text', 'What it prints, read as text']],
]);

/**
 * The ways other than its terminal; the first is taken unless somebody chooses.
 * @param {AgentInfo | undefined} agent
 */
export const waysOf = (agent) => (agent?.drivers ?? []).filter((driver) => driver !== 'terminal');

/**
 * The way that was chosen, if this agent has it.
 * @param {AgentInfo | undefined} agent
 * @param {string} wanted
 * @returns {Driver | ''}
 */
export const driverOf = (agent, wanted) => (waysOf(agent).includes(wanted) ? /** @type {Driver} */ (wanted) : '');

/** @param {string} driver */
const titleOf = (driver) => WORDS.get(driver)?.[0] ?? driver;

/**
 * @param {AgentInfo | undefined} agent
 * @param {string} wanted
 * @param {(driver: string) => void} choose
 */
export function driverChip(agent, wanted, choose) {
  const ways = waysOf(agent);
  if (!agent || ways.length < 2) return null;
  const now = driverOf(agent, wanted) || ways[0];
  return h(
    'button',
    {
      type: 'button',
      class: `chip k-driver ${now === ways[0] ? '' : 'is-set'}`,
      'data-key': 'driver',
      'aria-haspopup': 'menu',
      title: `How Bascule talks to ${agent.title}`,
      onclick: (/** @type {On} */ event) =>
        menu(event.currentTarget, [
          { title: `How Bascule talks to ${agent.title}` },
          ...ways.map((way) => ({
            label: titleOf(way),
            note: WORDS.get(way)?.[1] ?? '',
            on: way === now,
            run: () => choose(way),
          })),
        ]),
    },
    h('span', { class: 'spoken' }, 'By '),
    titleOf(now),
    h('span', { class: 'chip__caret' }, icon('down', 12)),
  );
}
