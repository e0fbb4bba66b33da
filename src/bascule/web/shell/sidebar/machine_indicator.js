/** The machines at the foot of the sidebar: quiet while all is well, and a list of all behind one button. */

import { h } from '../../js/dom.js';
import { count } from '../../js/format.js';
import { icon } from '../../js/icons.js';
import { conditionOf, hereId, several, talkingAgents } from '../machines.js';
import { dot, popover } from '../parts.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('../state.js').Device} Device */
/** @typedef {import('../machines.js').Condition} Condition */

const LOOPBACK = /^(127\.|localhost$|\[::1\]$)/;
const WORST = /** @type {const} */ (['lost', 'update', 'away', 'disk', 'stale', 'clock', 'paused', 'fine']);

/**
 * @param {App} app
 * @param {State} state
 */
export function machineIndicator(app, state) {
  const { name, word, condition, title } = several(state) ? summary(state) : onlyMachine(state);
  return h(
    'button',
    {
      type: 'button',
      class: 'device-row',
      'data-key': 'machines',
      title,
      'aria-haspopup': 'dialog',
      onclick: (/** @type {On} */ event) => openList(app, event.currentTarget),
    },
    icon('device', 14),
    h('span', null, name),
    h('small', null, word),
    dot(condition.dot, condition.kind === 'fine' ? 'connected' : condition.word),
  );
}

/** @param {State} state */
function onlyMachine(state) {
  const device = state.devices[0];
  const condition = conditionOf(state, device, Date.now());
  const here = condition.kind === 'fine' && LOOPBACK.test(location.hostname);
  return {
    name: device.name,
    word: here ? 'this machine' : condition.word,
    condition,
    title: `${device.name}, Bascule ${device.version}`,
  };
}

/**
 * The most pressing of them; the names of those that it is about.
 * @param {State} state
 */
function summary(state) {
  const now = Date.now();
  const all = state.devices.map((device) => ({ device, condition: conditionOf(state, device, now) }));
  const worst = WORST.find((kind) => all.some((machine) => machine.condition.kind === kind)) ?? 'fine';
  const those = all.filter((machine) => machine.condition.kind === worst);
  const wrong = all.filter((machine) => machine.condition.kind !== 'fine');
  const { condition } = those[0];
  const title = all.map((machine) => `${machine.device.name}: ${machine.condition.word}`).join('\n');
  const name = count(all.length, 'machine');
  if (worst === 'fine') return { name, word: 'all connected', condition, title };
  if (worst === 'lost') return { name, word: condition.word, condition, title };
  if (wrong.length > 1) return { name, word: `${wrong.length} need attention`, condition, title };
  return { name: those[0].device.name, word: condition.word, condition, title };
}

/**
 * Stays up to date while it is open.
 * @param {App} app
 * @param {HTMLElement} anchor
 */
function openList(app, anchor) {
  const list = h('ul', { class: 'machine-list' });
  const draw = (/** @type {State} */ state) =>
    list.replaceChildren(...state.devices.map((device) => machineItem(state, device)));
  const leave = app.store.subscribe(draw);
  draw(app.store.get());
  const content = h(
    'div',
    { class: 'machine-menu' },
    h('p', { class: 'caption' }, 'Machines'),
    list,
    h(
      'footer',
      null,
      h(
        'button',
        { type: 'button', class: 'button line', onclick: () => app.go({ name: 'settings', part: 'devices' }) },
        icon('gear', 14),
        'Manage machines',
      ),
    ),
  );
  popover(anchor, content, 'Machines', leave);
}

/**
 * @param {State} state
 * @param {Device} device
 */
function machineItem(state, device) {
  const condition = conditionOf(state, device, Date.now());
  const agents = talkingAgents(state, device.device).filter((agent) => agent.available && !agent.demo);
  return h(
    'li',
    null,
    icon('device', 14),
    h(
      'div',
      null,
      h('p', null, h('b', null, device.name), h('small', null, device.device === hereId(state) ? 'this server' : '')),
      device.roots?.[0] && h('small', { class: 'mono' }, device.roots[0]),
      h('small', null, agents.map((agent) => agent.title).join(', ') || 'No agent is ready there'),
      condition.more && h('small', { class: 'is-wrong' }, condition.more),
    ),
    h('span', { class: `machine-state is-${condition.kind}` }, dot(condition.dot, ''), condition.word),
  );
}
