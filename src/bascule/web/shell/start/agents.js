/** The agents of this machine: those that are ready, and how to install the others. */

import { copyButton } from '../../js/copy_button.js';
import { h } from '../../js/dom.js';
import { count } from '../../js/format.js';
import { icon } from '../../js/icons.js';
import { visible } from '../../js/visible.js';
import { loadAgents } from '../connecting.js';
import { talkingAgents } from '../machines.js';
import { agentLetter, dot } from '../parts.js';
import { unaskedLines, unaskedOf } from './unasked.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('../state.js').AgentInfo} AgentInfo */
/**
 * @typedef {object} Does what a row offers and says besides its agent
 * @property {(agent: AgentInfo) => void} [use]
 * @property {boolean} [unasked] whether a row says what its agent does without asking
 * @property {(agent: AgentInfo) => Node | null} [state] of its connection, where there is one
 * @property {boolean} [open] whether the agents to install are unfolded at first
 */

/**
 * @param {App} app
 * @param {State} state
 * @param {import('../state.js').Device | undefined} device
 * @param {Does} does
 */
export function agentCard(app, state, device, does) {
  const agents = talkingAgents(state, device?.device);
  const missing = agents.filter((agent) => !agent.available && agent.install);
  return h(
    'section',
    { class: 'card agent-list', 'aria-label': 'Agents', 'data-key': 'agents' },
    h(
      'header',
      null,
      h('b', null, `Agents on ${device?.name ?? 'this machine'}`),
      h('span', { class: 'spacer' }),
      h(
        'button',
        {
          type: 'button',
          class: 'button quiet',
          disabled: !device?.online,
          onclick: () => void loadAgents(app.store, app.api, device?.device ?? '', true).catch(app.trouble),
        },
        icon('refresh', 14),
        'Refresh',
      ),
    ),
    h(
      'ul',
      null,
      // What can be pressed stands first, the demo last of it.
      agents
        .filter((agent) => !missing.includes(agent))
        .sort((a, b) => Number(rank(a)) - Number(rank(b)))
        .map((agent) => agentRow(agent, does)),
    ),
    missing.length > 0 && installable(app, missing, Boolean(does.open)),
  );
}

/** @param {AgentInfo} agent */
const rank = (agent) => (agent.available ? (agent.demo ? 1 : 0) : 2);

/**
 * @param {AgentInfo} agent
 * @param {Does} does
 */
const agentRow = (agent, { use, unasked, state }) =>
  h(
    'li',
    { 'data-key': agent.name },
    agentLetter(agent.name, true),
    h(
      'span',
      null,
      h('b', null, agent.title),
      h('small', null, agentNote(agent)),
      unasked && agent.available && unaskedLines(unaskedOf(agent)),
    ),
    state?.(agent) ??
      h('span', { class: 'agent-list__state' }, dot(agent.available ? 'waiting' : 'ended', ''), stateWord(agent)),
    use &&
      agent.available &&
      h(
        'button',
        { type: 'button', class: 'button is-small line', onclick: () => use(agent) },
        icon('play', 14),
        agent.demo ? 'Try it' : 'Use',
      ),
  );

/** @param {AgentInfo} agent */
function stateWord(agent) {
  if (!agent.available) return 'Not ready';
  return agent.signed_in === 'no' ? 'Not signed in' : 'Ready';
}

/** @param {AgentInfo} agent */
function agentNote(agent) {
  if (agent.demo) return 'Built in, no account needed';
  return agent.available
    ? [agent.version, agent.path].filter(Boolean).join(' · ')
    : visible(agent.problem ?? 'not installed');
}

/**
 * One line that unfolds, each with the command that installs it.
 * @param {App} app
 * @param {AgentInfo[]} agents
 * @param {boolean} open
 */
const installable = (app, agents, open) =>
  h(
    'details',
    { class: 'installable', 'data-key': 'installable', open },
    h(
      'summary',
      null,
      h('span', { class: 'disclosure' }, icon('right', 12)),
      h('span', { class: 'installable__count' }, `${count(agents.length, 'more agent')} can be installed`),
      h(
        'span',
        { class: 'installable__names', 'aria-hidden': 'true' },
        agents.map((agent) => h('span', { title: agent.title }, agentLetter(agent.name))),
      ),
    ),
    h(
      'ul',
      null,
      agents.map((agent) => {
        const command = visible(agent.install ?? '');
        return h(
          'li',
          { 'data-key': agent.name },
          agentLetter(agent.name, true),
          h('span', null, h('b', null, agent.title), h('code', { title: command }, command)),
          copyButton(`Copy the command that installs ${agent.title}`, () => app.copy(agent.install ?? '')),
        );
      }),
    ),
  );
