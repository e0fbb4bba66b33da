/** One machine in the settings: what it has, what it does, and what can be done with it. */

import { h, prefilled } from '../../js/dom.js';
import { count, limitTime, waited } from '../../js/format.js';
import { icon } from '../../js/icons.js';
import { visible } from '../../js/visible.js';
import { askCard } from '../ask_card.js';
import { conditionOf, deviceIdOf, heardAt, hereId, talkingAgents } from '../machines.js';
import { LET_HUB } from '../owner_only.js';
import { begin, dot } from '../parts.js';
import { isOver, titleOf } from '../sessions.js';
import { approvalWords, trustActions, trustForm } from './browser_trust.js';
import { outcomeWords } from './stop_everything.js';

/** @typedef {import('./parts.js').Context} Context */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('../state.js').Device} Device */

const FEW = 4; // sessions that are named

/**
 * @param {Context} context
 * @param {State} state
 * @param {Device} device
 * @param {boolean} owner
 */
export function machineCard(context, state, device, owner) {
  const condition = conditionOf(state, device, Date.now());
  const here = device.device === hereId(state);
  const { loaded } = context;
  return h(
    'section',
    { class: 'card machine', 'data-key': device.device, 'aria-label': device.name },
    h(
      'header',
      null,
      icon('device', 18),
      loaded.renaming === device.device
        ? nameForm(context, device)
        : [h('h3', { title: device.name }, visible(device.name)), here && h('small', null, 'this server')],
      h('span', { class: 'spacer' }),
      h(
        'span',
        { class: `machine-state is-${condition.kind}`, role: 'status' },
        dot(condition.dot, ''),
        condition.word,
      ),
    ),
    condition.more && h('p', { class: `machine__more is-${condition.kind}` }, visible(condition.more)),
    h('dl', { class: 'facts' }, facts(context, state, device)),
    trustForm(context, device),
    h('footer', null, owner ? actions(context, state, device, here) : trustActions(context, state, device)),
  );
}

/**
 * @param {Context} context
 * @param {State} state
 * @param {Device} device
 */
function facts({ app, loaded }, state, device) {
  const limits = loaded.limitsOf?.[device.device];
  return [
    fact('Agents', agentsList(state, device)),
    fact('Folders', foldersList(device)),
    fact('Running', runningList(app, state, device)),
    limits && fact('Limits', limitWords(limits)),
    fact('Bascule', visible(device.version)),
    fact('Last heard', device.online && device.state !== 'stale' ? 'now' : `${heard(state, device)} ago`),
    fact('Starts automatically', startWords(device.startsByItself)),
    approvalWords(device) && fact('Remote starts', startsWords(loaded.trusted, device)),
    device.device !== hereId(state) && fact('Without asking', wideningWords(device)),
  ];
}

/**
 * Whether this page may let its agents do more unasked.
 * @param {Device} device
 */
const wideningWords = (device) =>
  device.ownerOnly
    ? h(
        'span',
        null,
        `what its agents do is set on ${visible(device.name)} itself. To let this hub: `,
        h('code', null, LET_HUB),
      )
    : 'what its agents do can be set from here';

/**
 * @param {string[] | undefined} trusted
 * @param {Device} device
 */
const startsWords = (trusted, device) =>
  `${approvalWords(device)}${trusted?.includes(device.device) ? '; this browser signs its own' : ''}`;

/**
 * @param {string} name
 * @param {import('../../js/dom.js').Child} value
 */
const fact = (name, value) => h('div', { 'data-key': name }, h('dt', null, name), h('dd', null, value));

/**
 * @param {State} state
 * @param {Device} device
 */
const heard = (state, device) => waited(Math.max(0, Date.now() - heardAt(state, device)));

/**
 * @param {State} state
 * @param {Device} device
 */
function agentsList(state, device) {
  const ready = talkingAgents(state, device.device).filter((agent) => agent.available);
  const agents = ready.filter((agent) => !agent.demo);
  if (!agents.length) return ready.length ? 'only the demo' : 'none is ready';
  return agents.map((agent) => [agent.title, agent.version].filter(Boolean).join(' ')).join(', ');
}

/** @param {Device} device */
function foldersList(device) {
  if (!device.roots?.length) return 'not known';
  return h(
    'span',
    { class: 'machine__roots' },
    device.roots.map((root) => h('code', null, visible(root))),
  );
}

/**
 * @param {Context['app']} app
 * @param {State} state
 * @param {Device} device
 */
function runningList(app, state, device) {
  const live = Object.values(state.sessions).filter(
    (session) =>
      deviceIdOf(state, session) === device.device && !isOver(session) && !session.found && !session.archived,
  );
  if (!live.length) return device.running ? count(device.running, 'session') : 'nothing';
  return h(
    'span',
    { class: 'machine__running' },
    live.slice(0, FEW).map((session) =>
      h(
        'button',
        {
          type: 'button',
          class: 'link',
          'data-key': session.session_id,
          onclick: () => app.go({ name: 'session', id: session.session_id }),
        },
        titleOf(session),
      ),
    ),
    live.length > FEW && h('span', null, `and ${live.length - FEW} more`),
  );
}

/** @param {import('../../js/types.d.ts').Limits} limits */
function limitWords({ sessions = 0, session_seconds: longest = 0, idle_seconds: idle = 0 }) {
  const words = [
    sessions > 0 ? `${count(sessions, 'agent')} at once` : 'any number of agents at once',
    longest > 0 && `a session lasts ${limitTime(longest)} at most`,
    idle > 0 && `${limitTime(idle)} without a message`,
  ];
  return words.filter(Boolean).join(', ');
}

/** @param {boolean | null | undefined} does */
const startWords = (does) =>
  does === true ? 'yes, as a service' : does === false ? 'no, started by hand' : 'not known';

/**
 * @param {Context} context
 * @param {Device} device
 */
function nameForm({ app, loaded, again }, device) {
  const close = () => {
    loaded.renaming = '';
    again();
  };
  const save = async (/** @type {string} */ name) => {
    close();
    if (name === device.name) return;
    try {
      await app.api.renameDevice(device.device, name);
    } catch (error) {
      app.trouble(error);
    }
  };
  return h(
    'form',
    {
      class: 'machine__name',
      'data-key': 'name',
      onsubmit: (/** @type {On<HTMLFormElement>} */ event) => {
        event.preventDefault();
        void save(event.currentTarget.querySelector('input')?.value.trim() ?? '');
      },
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        close();
      },
    },
    prefilled(
      h('input', {
        class: 'input',
        'aria-label': 'Name of the machine',
        maxlength: 100,
        autocomplete: 'off',
        placeholder: 'Its own name',
      }),
      device.name,
    ),
    h('button', { type: 'submit', class: 'button line' }, 'Save'),
    h('button', { type: 'button', class: 'button quiet', onclick: close }, 'Cancel'),
  );
}

/**
 * @param {Context} context
 * @param {State} state
 * @param {Device} device
 * @param {boolean} here
 */
function actions(context, state, device, here) {
  const { loaded, again } = context;
  const rename = () => {
    loaded.renaming = device.device;
    again();
    begin('.machine__name input');
  };
  const pause = () => void setPaused(context, device, !device.paused);
  return [
    button('edit', 'Rename', rename),
    !device.pausedByOwner && button(device.paused ? 'play' : 'pause', device.paused ? 'Resume' : 'Pause', pause),
    ...trustActions(context, state, device),
    button('stop', 'Stop its agents', (event) => askStop(context, device, event.currentTarget)),
    !here && button('x', 'Forget', (event) => askForget(context, state, device, event.currentTarget)),
  ];
}

/**
 * @param {string} mark
 * @param {string} label
 * @param {(event: On) => void} onclick
 */
const button = (mark, label, onclick) =>
  h('button', { type: 'button', class: 'button quiet', 'data-key': label, onclick }, icon(mark, 14), label);

/**
 * @param {Context} context
 * @param {Device} device
 * @param {boolean} paused
 */
async function setPaused({ app }, device, paused) {
  try {
    const { devices } = await app.api.pauseDevice(device.device, paused);
    const [outcome] = devices ?? [];
    const now = paused ? 'accepts no new sessions' : 'accepts new sessions again';
    if (outcome?.outcome === 'refused') app.note(visible(outcome.message ?? ''), { tone: 'bad' });
    else if (outcome?.outcome === 'waiting')
      app.note(`${device.name} is away. The server passes it on once it is back.`);
    else app.note(`${device.name} ${now}.`);
  } catch (error) {
    app.trouble(error);
  }
}

/**
 * @param {Context} context
 * @param {Device} device
 * @param {HTMLElement} anchor
 */
const askStop = ({ app }, device, anchor) =>
  askCard(anchor, {
    title: `Stop all agents on ${device.name}?`,
    text: device.online
      ? 'What they wrote is kept, and each session can be resumed.'
      : 'It is away. They are stopped when it is back, before anything else; until then they keep running.',
    yes: 'Stop them',
    danger: true,
    run: () =>
      void app.api
        .stopEverything({ device: device.device })
        .then((answer) => app.note((answer.devices ?? []).map(outcomeWords).join(' ')), app.trouble),
  });

/**
 * @param {Context} context
 * @param {State} state
 * @param {Device} device
 * @param {HTMLElement} anchor
 */
function askForget({ app }, state, device, anchor) {
  if (device.online)
    return app.note(`${device.name} is connected. Run “bascule daemon leave” there first, then forget it here.`);
  const sessions = Object.values(state.sessions).filter(
    (session) => deviceIdOf(state, session) === device.device,
  ).length;
  askCard(anchor, {
    title: `Forget ${device.name}?`,
    text:
      `It leaves the list. ${sessions ? 'Its sessions stay here to read; they can’t be continued. ' : ''}` +
      'What is on the machine itself stays there. If it connects again, it is listed again; its key is under ' +
      'Trusted browsers, and revoking that keeps it out.',
    yes: 'Forget it',
    danger: true,
    run: () =>
      void app.api
        .forgetDevice(device.device)
        .then(() => app.note(`${device.name} was removed from the list.`), app.trouble),
  });
}
