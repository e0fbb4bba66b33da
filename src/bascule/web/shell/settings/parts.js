/** The plain parts of the settings: look, agents, devices. */

import { h } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { visible } from '../../js/visible.js';
import { agentLetter, dot } from '../parts.js';
import { unaskedLines, unaskedOf } from '../start/unasked.js';

/** @typedef {{app: import('../app.js').App, loaded: Record<string, any>, again: () => void}} Context */
/** @typedef {import('../state.js').State} State */

/**
 * @param {string} title
 * @param {string} text
 */
export const partHead = (title, text) => h('div', { class: 'settings-head' }, h('h2', null, title), h('p', null, text));

/** @param {string} text */
export const problem = (text) =>
  text && h('div', { class: 'note bad', role: 'status' }, icon('alert'), h('span', null, text));

/**
 * @param {Context} context
 * @param {State} state
 */
export function generalPart({ app }, state) {
  const themes = [
    ['auto', 'Like the system'],
    ['dark', 'Dark'],
    ['light', 'Light'],
  ];
  return [
    partHead('General', 'How this browser shows Bascule.'),
    h(
      'div',
      { class: 'card settings-card' },
      h('h3', null, 'Theme'),
      h(
        'div',
        { class: 'segments', role: 'radiogroup', 'aria-label': 'Theme' },
        themes.map(([value, label]) =>
          h(
            'button',
            {
              type: 'button',
              role: 'radio',
              'aria-checked': String(state.theme === value),
              class: state.theme === value ? 'is-selected' : '',
              onclick: () => app.store.set({ theme: value }),
            },
            label,
          ),
        ),
      ),
    ),
    h(
      'div',
      { class: 'card settings-card' },
      h('h3', null, 'You'),
      h(
        'p',
        null,
        state.me
          ? `${state.me.name}, ${state.me.role}. This name stands beside what you send and answer.`
          : 'This browser is trusted here.',
      ),
    ),
  ];
}

/**
 * @param {Context} context
 * @param {State} state
 */
export function agentsPart({ app, again }, state) {
  return [
    partHead('Agents', 'What is installed on this machine. Bascule uses each as it is.'),
    h(
      'section',
      { class: 'card agent-list' },
      h(
        'header',
        null,
        h('b', null, `Found on ${state.devices[0]?.name ?? 'this machine'}`),
        h('span', { class: 'spacer' }),
        h(
          'button',
          {
            type: 'button',
            class: 'button quiet',
            onclick: () =>
              void app.api.agents(true).then((agents) => {
                app.store.set({ agents });
                again();
              }, app.trouble),
          },
          icon('refresh', 14),
          'Look again',
        ),
      ),
      h(
        'ul',
        null,
        state.agents.map((agent) =>
          h(
            'li',
            { 'data-key': agent.name },
            agentLetter(agent.name, true),
            h(
              'span',
              null,
              h('b', null, agent.title),
              h(
                'small',
                null,
                agent.available
                  ? [agent.version, agent.path].filter(Boolean).join(' · ') || 'comes with Bascule, no account'
                  : visible(agent.problem ?? 'not installed'),
              ),
              agent.available && unaskedLines(unaskedOf(agent)),
            ),
            agentState(app, agent),
          ),
        ),
      ),
    ),
  ];
}

/**
 * What the processes of an agent's sessions are doing: the dot, and the word beside it.
 * @type {Record<string, [string, string]>}
 */
const STATES = {
  starting: ['starting', 'Starting'],
  connected: ['waiting', 'Connected'],
  reconnecting: ['starting', 'Reconnecting'],
  disconnected: ['failed', 'Disconnected'],
};

/**
 * @param {import('../app.js').App} app
 * @param {import('../../js/types.d.ts').AgentInfo} agent
 */
function agentState(app, agent) {
  const { available, status = 'idle' } = agent;
  const ready = !available ? 'Not here' : agent.signed_in === 'no' ? 'Not signed in' : 'Ready';
  const [mark, word] = STATES[status] ?? [available ? 'waiting' : 'ended', ready];
  return h(
    'span',
    { class: 'agent-list__state' },
    dot(mark, ''),
    word,
    status === 'disconnected' &&
      h(
        'button',
        {
          type: 'button',
          class: 'button is-small line',
          'aria-label': `Reconnect ${agent.title}`,
          onclick: () => void app.api.reconnectAgent(agent.name).catch(app.trouble),
        },
        'Reconnect',
      ),
  );
}

/**
 * @param {Context} _
 * @param {State} state
 */
export function devicesPart(_, state) {
  return [
    partHead('Devices', 'Machines whose agents you can use from here.'),
    h(
      'div',
      { class: 'table-frame' },
      h(
        'table',
        { class: 'data-table' },
        h(
          'thead',
          null,
          h(
            'tr',
            null,
            ['Device', 'State', 'Version'].map((one) => h('th', null, one)),
          ),
        ),
        h(
          'tbody',
          null,
          state.devices.map((device) =>
            h(
              'tr',
              { 'data-key': device.device },
              h('td', null, h('span', { class: 'data-table__name' }, icon('device'), h('b', null, device.name))),
              h('td', null, device.online ? 'connected' : 'away'),
              h('td', null, device.version),
            ),
          ),
        ),
      ),
    ),
  ];
}
