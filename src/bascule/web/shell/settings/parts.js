/** The plain parts of the settings: look, agents, devices. */

import { h } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { agentCard } from '../start/agents.js';

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
export function agentsPart({ app }, state) {
  return [
    partHead('Agents', 'What is installed on this machine. Bascule uses each as it is.'),
    agentCard(app, state, { unasked: true, open: true }),
  ];
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
