/** The plain parts of the settings: look, agents. */

import { h } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { visible } from '../../js/visible.js';
import { several } from '../machines.js';
import { dot } from '../parts.js';
import { machinePicker, pickedDevice } from './machine_picker.js';
import { agentCard } from '../start/agents.js';
import { switchNotifying, whyNone } from '../notifying.js';

/**
 * What the parts have loaded, and what is typed or going on in them.
 * @typedef {object} Loaded
 * @property {string} [problem]
 * @property {string} [machine] that is chosen
 * @property {import('../../js/types.d.ts').GrantView[]} [grants]
 * @property {string} [link] that was just made
 * @property {string[] | null} [code] the link as rows of dots
 * @property {import('../../js/types.d.ts').SettingsView | null} [settings]
 * @property {import('../../js/types.d.ts').LimitsView | null} [limits]
 * @property {string} [editing] the limit
 * @property {Record<string, import('../../js/types.d.ts').Limits>} [limitsOf] each machine
 * @property {string} [renaming] the machine
 * @property {string[]} [trusted] machines that trust this browser
 * @property {{device: string, code: string, problem: string} | null} [trusting]
 * @property {string} [answering] the pairing
 * @property {Record<string, string>} [replaces] which device, by pairing
 * @property {import('../../js/types.d.ts').NotificationsView} [notifications]
 * @property {import('./channel_form.js').NewChannel | null} [newChannel]
 * @property {Record<string, {ok?: boolean, message: string}>} [tested] by channel
 * @property {import('../../js/types.d.ts').UsageSums} [usage]
 * @property {import('../../js/types.d.ts').RuleViews} [rules]
 * @property {import('../rules/draft.js').Draft | null} [draft] the rule that is written
 * @property {string} [draftProblem]
 * @property {import('../../js/types.d.ts').DryRun | null} [dryRun]
 * @property {import('../../js/types.d.ts').Proposals | null} [proposals]
 * @property {string} [importFolder]
 * @property {import('../rules/try_request.js').Tried} [tried]
 * @property {import('./audit_records.js').AuditLine[]} audit
 * @property {object} [auditRun] changes with what is shown
 * @property {number} auditFrom
 * @property {{device: string, chain: number}} [auditOf]
 * @property {import('../../js/types.d.ts').AuditVerdict['copies']} [auditCopies]
 * @property {import('../../js/types.d.ts').AuditVerdict} [verdict]
 * @property {Record<string, string>} [grantNames]
 * @property {import('./audit_records.js').Filter} [filter]
 * @property {boolean} [searching]
 * @property {boolean} [exporting]
 */
/**
 * @typedef {object} Context
 * @property {import('../app.js').App} app
 * @property {Loaded} loaded
 * @property {() => void} again
 * @property {() => void} reload loads the part in view once more
 */
/** @typedef {import('../state.js').State} State */

/**
 * @param {string} title
 * @param {string} text
 */
export const partHead = (title, text) => h('div', { class: 'settings-head' }, h('h2', null, title), h('p', null, text));

/** @param {string | null | undefined} text */
export const problem = (text) =>
  text && h('div', { class: 'note bad', role: 'status' }, icon('alert'), h('span', null, text));

/**
 * @param {Context} context
 * @param {State} state
 */
export function generalPart(context, state) {
  const { app } = context;
  const themes = [
    ['auto', 'System'],
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
    h('div', { class: 'card settings-card' }, h('h3', null, 'Notifications'), notifyChoice(context, state)),
    h('div', { class: 'card settings-card' }, h('h3', null, 'Your name'), nameForm(app, state)),
  ];
}

/**
 * @param {Context} context
 * @param {State} state
 */
function notifyChoice({ app, again }, state) {
  const none = whyNone();
  const words = 'When an agent needs an answer and this page is in the background. They name the session and no more.';
  return [
    h('p', null, none || words),
    h(
      'div',
      { class: 'segments', role: 'radiogroup', 'aria-label': 'Notifications' },
      [false, true].map((on) =>
        h(
          'button',
          {
            type: 'button',
            role: 'radio',
            'aria-checked': String(state.notify === on),
            class: state.notify === on ? 'is-selected' : '',
            disabled: on && Boolean(none),
            onclick: () => void switchNotifying(app, on).then(again),
          },
          on ? 'On' : 'Off',
        ),
      ),
    ),
  ];
}

/**
 * @param {import('../app.js').App} app
 * @param {State} state
 */
function nameForm(app, state) {
  const { me } = state;
  if (!me) return h('p', null, 'This browser is trusted here.');
  const words = 'Others see it beside what you send and answer. You see “You”.';
  if (me.role !== 'owner') return h('p', null, `${visible(me.name)}. ${words}`);
  return h(
    'form',
    {
      'data-key': me.name,
      onsubmit: (/** @type {On<HTMLFormElement>} */ event) => {
        event.preventDefault();
        void renameMe(app, event.currentTarget.querySelector('input')?.value.trim() ?? '');
      },
    },
    h('p', null, words),
    h(
      'div',
      { class: 'form-row' },
      h('input', {
        class: 'input grow',
        'aria-label': 'Your name',
        value: me.name,
        required: true,
        maxlength: 100,
        autocomplete: 'off',
      }),
      h('button', { type: 'submit', class: 'button line' }, 'Save'),
    ),
  );
}

/**
 * The socket acts under the name it was opened with, so it is opened again.
 * @param {import('../app.js').App} app
 * @param {string} name
 */
export async function renameMe(app, name) {
  const { me } = app.store.get();
  if (!me || !name || name === me.name) return;
  try {
    await app.feed.call('grants:rename', { grantId: me.grantId, name });
    await app.feed.connect();
    app.note(`Others now see you as ${name}.`);
  } catch (error) {
    app.trouble(error);
  }
}

/**
 * @param {Context} context
 * @param {State} state
 */
export function agentsPart(context, state) {
  const { app } = context;
  const device = pickedDevice(context, state);
  const on = several(state) ? (device?.name ?? '') : 'this machine';
  return [
    partHead('Agents', `What is installed on ${on}. Bascule uses each as it is.`),
    machinePicker(context, state),
    agentCard(app, state, device, { unasked: true, open: true, state: (agent) => agentState(app, agent) }),
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
  const state = STATES[agent.status ?? 'idle'];
  if (!state) return null;
  return h(
    'span',
    { class: 'agent-list__state' },
    dot(state[0], ''),
    state[1],
    agent.status === 'disconnected' &&
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
