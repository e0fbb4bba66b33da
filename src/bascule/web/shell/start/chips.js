/** What a new session is given besides its task, each as a chip: device, folder, agent, model. */

import { h } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { folderName } from '../../js/format.js';
import { deviceById, deviceIdOf, onDevice, several, startProblem, talkingAgents, usualDevice } from '../machines.js';
import { refusingStart } from '../owner_only.js';
import { agentLetter, menu } from '../parts.js';
import { agentTitle, homeOf } from '../sessions.js';
import { trustChoices } from './trust.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('../composer/chips.js').PermissionMode} PermissionMode */
/**
 * @typedef {object} Wanted
 * @property {string} device
 * @property {string} agent
 * @property {string} driver
 * @property {string} model
 * @property {PermissionMode} mode
 * @property {boolean} plan whether it begins in the agent's plan mode, where there is one
 * @property {string} cwd
 * @property {string} level how much of the machine it may reach; empty for all that its owner allows
 * @property {string[]} [signs] the machines on which this browser’s starts are signed
 */
/** @typedef {ReturnType<typeof choices>} Choices */

const caret = () => h('span', { class: 'chip__caret' }, icon('down', 12));

/** @param {import('../state.js').AgentInfo | undefined} agent */
export const hasPlan = (agent) => Boolean(agent?.modes?.includes('plan'));

/**
 * What the command comes to, with what nobody chose filled in.
 * @param {State} state
 * @param {Wanted} command
 */
export function choices(state, command) {
  const device = deviceById(state, command.device) ?? usualDevice(state);
  const known = talkingAgents(state, device?.device);
  const usable = known.filter((candidate) => candidate.available);
  const agent =
    usable.find((candidate) => candidate.name === command.agent) ??
    usable.find((candidate) => !candidate.demo) ??
    usable[0];
  const isThere = (/** @type {{device?: string}} */ one) => !device || deviceIdOf(state, one) === device.device;
  const latest = Object.values(state.sessions).sort((a, b) => (a.updated_at < b.updated_at ? 1 : -1));
  const recent = [...new Set(latest.filter(isThere).map(homeOf).filter(Boolean))];
  const projects = state.projects.filter(isThere);
  const problem = device && several(state) ? startProblem(state, device, Date.now()) : '';
  return {
    known,
    usable,
    agent,
    recent,
    projects,
    device,
    problem,
    refuses: refusingStart(device, Boolean(device && command.signs?.includes(device.device))),
    cwd: command.cwd || recent[0] || projects[0]?.path || '',
  };
}

/**
 * @param {State} state
 * @param {Choices} chosen
 * @param {(device: string) => void} choose
 */
export function deviceChip(state, { device }, choose) {
  const label = [icon('device', 14), device?.name ?? 'this machine', device && !device.online ? ' (away)' : ''];
  if (!several(state)) return h('span', { class: 'chip', 'data-key': 'device' }, label);
  return h(
    'button',
    {
      type: 'button',
      class: 'chip k-device',
      'data-key': 'device',
      'aria-haspopup': 'menu',
      onclick: (/** @type {On} */ event) =>
        menu(
          event.currentTarget,
          state.devices.map((otherDevice) =>
            deviceChoice(state, otherDevice, otherDevice === device, () => choose(otherDevice.device)),
          ),
        ),
    },
    h('span', { class: 'spoken' }, 'Machine: '),
    label,
    caret(),
  );
}

/**
 * One that can start nothing now says why, and can’t be chosen.
 * @param {State} state
 * @param {import('../state.js').Device} device
 * @param {boolean} on
 * @param {() => void} run
 * @returns {import('../parts.js').Entry}
 */
function deviceChoice(state, device, on, run) {
  const problem = startProblem(state, device, Date.now());
  const agents = talkingAgents(state, device.device).filter((agent) => agent.available && !agent.demo);
  const note = problem || agents.map((agent) => agent.title).join(', ') || 'No agent is ready there';
  return { label: device.name, note, on, off: Boolean(problem), run };
}

/**
 * The folders of a machine's latest sessions.
 * @param {App} app
 * @param {State} state
 * @param {Choices} chosen
 * @returns {Promise<string[]>}
 */
async function recentOn(app, state, { device, recent }) {
  const answer = await app.api.recentFolders(onDevice(state, device?.device)).catch(() => null);
  if (!answer) return recent; // the line is down: what this page has seen
  if (!several(state)) return answer.directories;
  const there = (answer.folders ?? []).filter((folder) => deviceIdOf(state, folder) === device?.device);
  return there.length ? there.map((folder) => folder.path) : recent;
}

/**
 * Recent folders first, then projects, then any path.
 * @param {App} app
 * @param {State} state
 * @param {Choices} chosen
 * @param {{choose: (path: string) => void, type: () => void}} does
 */
export function folderChip(app, state, chosen, does) {
  const { cwd, device } = chosen;
  /** @param {HTMLElement} anchor */
  async function open(anchor) {
    const known = await recentOn(app, state, chosen);
    const refuses = device?.ownerOnly ? device : undefined;
    const trust = await trustChoices(app, cwd, anchor, onDevice(state, device?.device), refuses);
    const some = known.slice(0, 6);
    const projects = chosen.projects.filter((project) => !some.includes(project.path));
    menu(anchor, [
      ...(some.length
        ? [
            { title: 'Recent' },
            ...some.map((/** @type {string} */ path) => ({
              label: folderName(path),
              note: path,
              on: path === cwd,
              run: () => does.choose(path),
            })),
          ]
        : []),
      ...(projects.length
        ? [
            { title: 'Projects' },
            ...projects.map((project) => ({
              label: project.name,
              note: project.path,
              on: project.path === cwd,
              run: () => does.choose(project.path),
            })),
          ]
        : []),
      /** @type {const} */ ('line'),
      { label: 'Another folder…', icon: 'folder', run: does.type },
      ...trust,
    ]);
  }
  return h(
    'button',
    {
      type: 'button',
      class: 'chip k-folder',
      'data-key': 'folder',
      title: cwd,
      'aria-haspopup': 'menu',
      onclick: (/** @type {On} */ event) => void open(event.currentTarget),
    },
    icon('folder', 14),
    cwd ? (chosen.projects.find((project) => project.path === cwd)?.name ?? folderName(cwd)) : 'Home folder',
    caret(),
  );
}

/**
 * @param {State} state
 * @param {Choices} chosen
 * @param {(name: string) => void} choose
 */
export function agentChip(state, { known, usable, agent }, choose) {
  if (!agent)
    return h('span', { class: 'chip', 'data-key': 'agent' }, known.length ? 'No agent is ready' : 'Looking for agents');
  return h(
    'button',
    {
      type: 'button',
      class: 'chip k-agent',
      'data-key': 'agent',
      'aria-haspopup': 'menu',
      onclick: (/** @type {On} */ event) =>
        menu(
          event.currentTarget,
          usable.map((offered) => ({
            label: offered.title,
            note: offered.demo ? 'Built in, no account needed' : (offered.version ?? ''),
            on: offered === agent,
            run: () => choose(offered.name),
          })),
        ),
    },
    h('span', { class: 'spoken' }, 'Agent: '),
    agentLetter(agent.name),
    agentTitle(state, agent.name),
    caret(),
  );
}

/**
 * @param {Choices} chosen
 * @param {string} model
 * @param {(model: string) => void} choose
 */
export function modelField({ agent }, model, choose) {
  if (!agent) return null;
  /** @param {HTMLElement} anchor */
  function open(anchor) {
    const other = /** @type {HTMLInputElement} */ (
      h('input', {
        class: 'input mono grow',
        'aria-label': 'Another model',
        placeholder: 'Another model',
        maxlength: 200,
        spellcheck: 'false',
        autocomplete: 'off',
      })
    );
    const form = h(
      'form',
      {
        onsubmit: (/** @type {Event} */ event) => {
          event.preventDefault();
          close();
          choose(other.value.trim());
        },
      },
      other,
      h('button', { class: 'button line', type: 'submit' }, 'Use'),
    );
    const close = menu(
      anchor,
      ['', ...(agent?.models ?? [])].map((value) => ({
        label: value || 'Default model',
        on: value === model,
        run: () => choose(value),
      })),
      form,
    );
  }
  return h(
    'button',
    {
      type: 'button',
      class: 'chip k-model',
      'data-key': 'model',
      'aria-haspopup': 'menu',
      onclick: (/** @type {On} */ event) => open(event.currentTarget),
    },
    model || 'Default model',
    caret(),
  );
}
