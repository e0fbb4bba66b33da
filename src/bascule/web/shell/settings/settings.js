/**
 * Settings: who may come in, what bounds an agent, what is installed here, the audit log, and the button that stops
 * everything.
 */

import { errorOf } from '../../js/json.js';
import { h, update } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { auditPart, loadAudit } from './audit.js';
import { browsersPart } from './browsers.js';
import { limitsPart } from './limits.js';
import { loadRules, rulesPart } from '../rules/rules.js';
import { loadAgents } from '../connecting.js';
import { pickedDevice, where } from './machine_picker.js';
import { loadNotifications, notificationsPart } from './notifications.js';
import { loadMachines, machinesPart } from './machines.js';
import { agentsPart, generalPart } from './parts.js';
import { stopEverything } from './stop_everything.js';
import { usagePart } from '../composer/usage.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('./parts.js').Context} Context */
/**
 * @typedef {{
 *   name: string,
 *   mark: string,
 *   label: string,
 *   draw: (context: Context, state: State) => import('../../js/dom.js').Child | import('../../js/dom.js').Child[],
 *   load?: (context: Context) => Promise<void>,
 * }} Part
 */

/** In the order of the list. A part loads what it needs each time it comes into sight. @type {Part[]} */
const PARTS = [
  { name: 'general', mark: 'gear', label: 'General', draw: generalPart },
  {
    name: 'agents',
    mark: 'terminal',
    label: 'Agents',
    draw: agentsPart,
    load: async (context) => {
      const { app } = context;
      const device = pickedDevice(context, app.store.get());
      if (device?.online) await loadAgents(app.store, app.api, device.device);
    },
  },
  { name: 'devices', mark: 'device', label: 'Machines', draw: machinesPart, load: loadMachines },
  {
    name: 'browsers',
    mark: 'key',
    label: 'Trusted browsers',
    draw: browsersPart,
    load: async ({ app, loaded }) => {
      loaded.grants = await app.api.grants();
    },
  },
  { name: 'rules', mark: 'shield', label: 'Rules', draw: rulesPart, load: loadRules },
  {
    name: 'limits',
    mark: 'clock',
    label: 'Limits',
    draw: limitsPart,
    load: async (context) => {
      const { app, loaded } = context;
      loaded.settings = loaded.limits = null;
      const there = where(context);
      [loaded.settings, loaded.limits] = await Promise.all([app.api.settings(there), app.api.limits(there)]);
    },
  },
  {
    name: 'notifications',
    mark: 'bell',
    label: 'Notifications',
    draw: notificationsPart,
    load: loadNotifications,
  },
  {
    name: 'usage',
    mark: 'list',
    label: 'Usage',
    draw: usagePart,
    load: async ({ app, loaded }) => {
      loaded.usage = await app.api.usage();
    },
  },
  { name: 'audit', mark: 'log', label: 'Audit log', draw: auditPart, load: loadAudit },
];

const USAGE_PAUSE = 1000;

/**
 * @param {HTMLElement} root
 * @param {App} app
 * @param {{device: string, code: string, problem: string} | null} trusting of the link that opened this page
 */
export function mountSettings(root, app, trusting) {
  const again = () => draw(app.store.get());
  /** `loaded` is what the parts have loaded. @type {Context} */
  const context = { app, loaded: { trusting, audit: [], auditFrom: 0 }, again, reload: () => reload() };
  const stopAll = stopEverything(app, again);
  let asked = '';
  let drawn = '';
  const reload = () => {
    asked = '';
    again();
  };

  /** @param {State} state */
  function draw(state) {
    root.hidden = state.route.name !== 'settings';
    if (root.hidden) {
      asked = '';
      return;
    }
    const part = PARTS.find((candidate) => candidate.name === state.route.part) ?? PARTS[0];
    if (asked !== part.name && state.line.phase === 'live') {
      asked = part.name;
      void load(context, part);
    }
    update(root, [
      h('header', { class: 'title-bar' }, h('h1', null, 'Settings')),
      h(
        'div',
        { class: 'split settings' },
        partList(app, part, stopAll(state)),
        h('div', { class: 'settings-body', 'data-key': part.name }, [part.draw(context, state)].flat()),
      ),
    ]);
    if (drawn !== part.name)
      root.querySelector('.settings-nav .is-selected')?.scrollIntoView({ block: 'nearest', inline: 'center' });
    drawn = part.name;
  }

  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let counting;
  /** Sessions work on while their sums are in view. */
  const countUsage = () => {
    counting ??= setTimeout(() => {
      counting = undefined;
      const part = PARTS.find((candidate) => candidate.name === 'usage');
      if (part && app.store.get().route.part === 'usage') void load(context, part);
    }, USAGE_PAUSE);
  };

  app.store.subscribe((now, before) => {
    const parts = /** @type {const} */ (['route', 'agentsOf', 'devices', 'pairings', 'theme', 'notify', 'me']);
    const usage = now.route.part === 'usage' && now.sessions !== before.sessions;
    if (usage) countUsage();
    const counted = now.route.part === 'devices' && (now.tick !== before.tick || now.sessions !== before.sessions);
    if (counted || parts.some((part) => now[part] !== before[part]) || now.line.phase !== before.line.phase) draw(now);
  });
  draw(app.store.get());
}

/**
 * @param {Context} context
 * @param {Part} part
 */
async function load(context, part) {
  context.loaded.problem = '';
  try {
    await part.load?.(context);
  } catch (error) {
    const { code, message } = errorOf(error);
    context.loaded.problem = code === 'FORBIDDEN' ? 'Only an owner sees this.' : message;
  }
  context.again();
}

/**
 * @param {App} app
 * @param {Part} front
 * @param {Node | null} last
 */
const partList = (app, front, last) =>
  h(
    'nav',
    { class: 'settings-nav', 'aria-label': 'Settings' },
    PARTS.map(({ name, mark, label }) =>
      h(
        'button',
        {
          type: 'button',
          class: front.name === name ? 'is-selected' : '',
          'aria-current': front.name === name ? 'page' : null,
          onclick: () => app.go({ name: 'settings', part: name }),
        },
        icon(mark),
        h('span', null, label),
      ),
    ),
    h('span', { class: 'spacer' }),
    last,
  );
