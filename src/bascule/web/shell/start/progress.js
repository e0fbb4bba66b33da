/** The three faces of a start besides its composer: agents found, steps on the way, what went wrong. */

import { h, iconButton } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { visible } from '../../js/visible.js';
import { duration } from '../../js/format.js';
import { agentLetter, dot } from '../parts.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */
/** @typedef {{id: string, began: number, error: any}} Going */
/** @typedef {import('./chips.js').Choices} Choices */

// As long as a start may take before a person is asked what to do; the server gives the process the same time.
export const START_SECONDS = 30;

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
      { class: 'fr' },
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
      { class: 'card ags', 'aria-label': 'Agents' },
      h(
        'header',
        null,
        h('b', null, `Found on ${device}`),
        h('span', { class: 'sp' }),
        h(
          'button',
          {
            type: 'button',
            class: 'btn quiet',
            onclick: () => void app.api.agents(true).then((agents) => app.store.set({ agents }), app.trouble),
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
                agent.demo
                  ? 'comes with Bascule, no account'
                  : agent.available
                    ? [agent.version, agent.path].filter(Boolean).join(' · ')
                    : visible(agent.problem ?? 'not installed'),
              ),
            ),
            h(
              'span',
              { class: 'as' },
              dot(agent.available ? 'waiting' : 'ended', ''),
              agent.available ? 'Ready' : 'Not here',
            ),
            agent.available &&
              h(
                'button',
                { type: 'button', class: 'btn sm line', onclick: () => use(agent.name) },
                icon('play', 14),
                agent.demo ? 'Try it' : 'Use',
              ),
          ),
        ),
      ),
    ),
  ];
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
    h('h1', { class: 'hero sm' }, dot('starting', 'starting'), `Starting on ${where}`),
    h(
      'section',
      { class: 'card steps', role: 'status', 'aria-label': 'Steps of the start' },
      h(
        'ol',
        { class: 'steplist' },
        rows.map(([text, time], n) =>
          h(
            'li',
            { class: states[n] ? 'd' : n === now ? 'r' : 'p', 'aria-current': n === now ? 'step' : null },
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
        h('span', { class: 'sp' }),
        h('button', { type: 'button', class: 'btn quiet', onclick: cancel }, 'Cancel'),
      ),
    ),
  );
}

/**
 * One sentence what happened, one what next.
 * @param {any} error
 * @param {string} agent
 * @param {string} device
 * @returns {[string, string]}
 */
export function failureWords(error, agent, device) {
  switch (error.code) {
    case 'OFFLINE':
    case 'DEVICE_OFFLINE':
      return [`${device} is not connected`, 'See that Bascule runs there, then try again. Your text is kept.'];
    case 'INVALID_DIRECTORY':
      return ['That folder can’t be used', error.message];
    case 'LIMIT_REACHED':
      return ['No more sessions right now', error.message];
    case 'AGENT_UNAVAILABLE':
    case 'UNKNOWN_AGENT':
      return [`${agent} is not installed on ${device}`, error.message];
    case 'START_TIMEOUT':
      return [
        `${agent} did not start within ${START_SECONDS} s`,
        'It may be waiting for something on its own screen. Try again, or wait a little longer. Your text is kept.',
      ];
    default:
      return [`${agent} did not start`, error.message || 'Look at what it said, then try again.'];
  }
}

/**
 * @param {App} app
 * @param {State} state
 * @param {Going} going
 * @param {Choices} chosen
 * @param {{
 *   retry: () => void,
 *   wait: () => void,
 *   giveUp: () => void,
 *   typePath: () => void,
 *   use: (name: string) => void,
 * }} does
 */
export function startFailed(app, state, going, { agent, device, usable }, does) {
  const where = device?.name ?? 'this machine';
  const [title, text] = failureWords(going.error, agent?.title ?? 'The agent', where);
  const code = going.error.code;
  const failure = going.id ? state.live[going.id]?.failure : null;
  const steps = going.id ? (state.live[going.id]?.steps ?? {}) : {};
  const said = failure?.stderr_tail?.trim() ?? '';
  const lived = Date.parse(failure?.at ?? '') - Date.parse(steps.started ?? '');
  const ran = lived > 0 ? ` after ${duration(lived)}` : '';
  const how =
    (failure?.code ?? null) !== null
      ? `ended with code ${failure.code}${ran}`
      : code === 'START_TIMEOUT'
        ? `no word for ${START_SECONDS} s`
        : '';
  const other = ['FAILED', 'START_TIMEOUT', 'AGENT_UNAVAILABLE', 'UNKNOWN_AGENT'].includes(code)
    ? usable.find((one) => one !== agent && !one.demo)
    : undefined;
  const folder = code === 'INVALID_DIRECTORY';
  const away = code === 'OFFLINE' || code === 'DEVICE_OFFLINE';
  const again = h(
    'button',
    { type: 'button', class: `btn ${folder ? 'line' : 'pri'}`, onclick: does.retry },
    icon('refresh', 14),
    'Try again',
  );
  return h(
    'section',
    { class: 'card steps failc', role: 'alert', 'data-key': 'failed' },
    h('header', null, icon('alert', 18), h('div', null, h('h2', null, title), h('p', null, visible(text)))),
    h(
      'ol',
      { class: 'steplist' },
      going.id && h('li', { class: 'd' }, icon('check'), h('span', null, `Reached ${where}`)),
      going.id &&
        h(
          'li',
          { class: 'f' },
          icon('x'),
          h('span', null, `Start ${agent?.title ?? 'the agent'}${agent?.version ? ` ${agent.version}` : ''}`),
          h('small', null, how),
        ),
    ),
    away &&
      h(
        'p',
        { class: 'cmdline' },
        h('code', null, 'bascule doctor'),
        h('span', null, 'run there, says what is wrong'),
        iconButton('copy', 'Copy bascule doctor', { onclick: () => app.copy('bascule doctor') }),
      ),
    said &&
      h(
        'details',
        { class: 'stderr', open: true },
        h('summary', null, h('span', { class: 'car' }, icon('right', 12)), 'What it said'),
        h('pre', { tabindex: 0 }, visible(said).slice(-4000)),
      ),
    h(
      'footer',
      null,
      folder &&
        h(
          'button',
          { type: 'button', class: 'btn pri', onclick: does.typePath },
          icon('folder', 14),
          'Change the folder',
        ),
      code === 'LIMIT_REACHED'
        ? [
            again,
            h(
              'button',
              { type: 'button', class: 'btn line', onclick: () => app.go({ name: 'settings', part: 'limits' }) },
              icon('gear', 14),
              'Settings',
            ),
          ]
        : again,
      code === 'START_TIMEOUT' &&
        h('button', { type: 'button', class: 'btn line', onclick: does.wait }, 'Keep waiting'),
      other &&
        h(
          'button',
          { type: 'button', class: 'btn quiet', onclick: () => does.use(other.name) },
          `Use ${other.title} instead`,
        ),
      h('button', { type: 'button', class: 'btn quiet', onclick: does.giveUp }, 'Cancel'),
      h('span', { class: 'sp' }),
      iconButton('copy', 'Copy details', { onclick: () => app.copy([title, text, said].filter(Boolean).join('\n')) }),
    ),
  );
}
