/** A start besides its composer: the agents found at first, and the steps on the way. */

import { h } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { visible } from '../../js/visible.js';
import { duration } from '../../js/format.js';
import { agentLetter, dot } from '../parts.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('./starting.js').Going} Going */
/** @typedef {import('./chips.js').Choices} Choices */

/**
 * First run.
 * @param {App} app
 * @param {State} state
 * @param {(name: string) => void} use
 */
export function foundAgents(app, state, use) {
  const device = state.devices[0]?.name ?? 'this machine';
  return [
    h(
      'div',
      { class: 'first-run' },
      h('p', { class: 'mark' }, icon('logo', 56)),
      h('h1', { class: 'hero' }, 'Nothing crosses until you say so'),
      h(
        'p',
        { class: 'lead' },
        'Bascule runs the coding agents on your machines from this page. Every command and edit they ' +
          'want comes to you first, unless you made a rule for it.',
      ),
    ),
    h(
      'section',
      { class: 'card agent-list', 'aria-label': 'Agents' },
      h(
        'header',
        null,
        h('b', null, `Found on ${device}`),
        h('span', { class: 'spacer' }),
        h(
          'button',
          {
            type: 'button',
            class: 'button quiet',
            onclick: () => void app.api.agents(true).then((agents) => app.store.set({ agents }), app.trouble),
          },
          icon('refresh', 14),
          'Look again',
        ),
      ),
      h(
        'ul',
        null,
        state.agents.map((agent) => agentRow(agent, use)),
      ),
    ),
  ];
}

/**
 * @param {import('../state.js').AgentInfo} agent
 * @param {(name: string) => void} use
 */
const agentRow = (agent, use) =>
  h(
    'li',
    { 'data-key': agent.name },
    agentLetter(agent.name, true),
    h('span', null, h('b', null, agent.title), h('small', null, agentNote(agent))),
    h(
      'span',
      { class: 'agent-list__state' },
      dot(agent.available ? 'waiting' : 'ended', ''),
      agent.available ? 'Ready' : 'Not here',
    ),
    agent.available &&
      h(
        'button',
        { type: 'button', class: 'button is-small line', onclick: () => use(agent.name) },
        icon('play', 14),
        agent.demo ? 'Try it' : 'Use',
      ),
  );

/** @param {import('../state.js').AgentInfo} agent */
function agentNote(agent) {
  if (agent.demo) return 'comes with Bascule, no account';
  return agent.available
    ? [agent.version, agent.path].filter(Boolean).join(' · ')
    : visible(agent.problem ?? 'not installed');
}

/**
 * @param {State} state
 * @param {Going} going
 * @param {Choices} chosen
 * @param {() => void} cancel
 */
export function startSteps(state, going, { agent, device }, cancel) {
  const where = device?.name ?? 'this machine';
  const steps = going.id ? (state.live[going.id]?.steps ?? {}) : {};
  const phase = going.id ? state.sessions[going.id]?.phase : undefined;
  const at = (/** @type {string} */ name) => (steps[name] ? Date.parse(steps[name]) : 0);
  const took = (/** @type {number} */ from, /** @type {number} */ to) =>
    from && to ? duration(Math.max(1, to - from)) : '';
  const states = [
    Boolean(going.id),
    Boolean(steps.spawned) || phase === 'waiting',
    Boolean(steps.ready) || phase === 'waiting',
    false,
  ];
  const now = states.indexOf(false);
  const name = `${agent?.title ?? 'the agent'}${agent?.version ? ` ${agent.version}` : ''}`;
  const rows = [
    [now > 0 ? `Reached ${where}` : `Reaching ${where}`, took(going.began, at('started'))],
    [now > 1 ? `Started ${name}` : `Start ${name}`, took(at('started'), at('spawned'))],
    [
      'Waiting for its first word',
      now === 2 ? duration(Math.round((Date.now() - going.began) / 1000) * 1000 || 1000) : '',
    ],
    ['Send your task', ''],
  ];
  return h(
    'div',
    { class: 'going', 'data-key': 'steps' },
    h('h1', { class: 'hero is-small' }, dot('starting', 'starting'), `Starting on ${where}`),
    h(
      'section',
      { class: 'card steps', role: 'status', 'aria-label': 'Steps of the start' },
      h(
        'ol',
        { class: 'step-list' },
        rows.map(([text, time], n) =>
          h(
            'li',
            {
              class: states[n] ? 'is-done' : n === now ? 'is-running' : 'is-pending',
              'aria-current': n === now ? 'step' : null,
            },
            states[n] ? icon('check') : n === now ? h('span', { class: 'spin' }) : h('span', { class: 'ring' }),
            h('span', null, text),
            h('small', null, time),
          ),
        ),
      ),
      h(
        'footer',
        null,
        h('span', { class: 'hint' }, 'You can close this page; it goes on.'),
        h('span', { class: 'spacer' }),
        h('button', { type: 'button', class: 'button quiet', onclick: cancel }, 'Cancel'),
      ),
    ),
  );
}
