/** A start that failed: what happened, what the agent said, and what to do now. */

import { copyButton } from '../../js/copy_button.js';
import { h } from '../../js/dom.js';
import { duration } from '../../js/format.js';
import { icon } from '../../js/icons.js';
import { visible } from '../../js/visible.js';
import { offerOf, offerWords } from '../making_room.js';
import { START_SECONDS } from './starting.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('./chips.js').Choices} Choices */
/** @typedef {import('./starting.js').Going} Going */
/**
 * @typedef {object} Does
 * @property {() => void} retry
 * @property {() => void} wait
 * @property {() => void} giveUp
 * @property {() => void} typePath
 * @property {(name: string) => void} use another agent
 * @property {(id: string) => void} endAndStart
 */

/** @typedef {{code?: string, message: string}} Failure */

const MAX_SAID = 4000; // characters
const MAY_USE_ANOTHER = ['FAILED', 'START_TIMEOUT', 'AGENT_UNAVAILABLE', 'UNKNOWN_AGENT'];

/**
 * One sentence what happened, one what next.
 * @param {Failure} error
 * @param {string} agent
 * @param {string} device
 * @returns {[string, string]}
 */
export function failureWords(error, agent, device) {
  switch (error.code) {
    case 'OFFLINE':
    case 'DEVICE_OFFLINE':
      return [`${device} is not connected`, 'Check that Bascule is running there, then try again. Your text is kept.'];
    case 'INVALID_DIRECTORY':
      return ['That folder can’t be used', error.message];
    case 'START_REFUSED':
    case 'OWNER_NEEDED':
      return [`${device} refused it`, `${error.message} Your text is kept.`];
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
 * How the process ended, in a few words.
 * @param {string} code of the error
 * @param {import('../state.js').LiveSession['failure'] | undefined} failure
 * @param {string | undefined} startedAt
 */
export function exitWords(code, failure, startedAt) {
  const lived = Date.parse(failure?.at ?? '') - Date.parse(startedAt ?? '');
  if (failure && (failure.code ?? null) !== null)
    return `ended with code ${failure.code}${lived > 0 ? ` after ${duration(lived)}` : ''}`;
  return code === 'START_TIMEOUT' ? `no response for ${START_SECONDS} s` : '';
}

/**
 * @param {App} app
 * @param {State} state
 * @param {Going} going
 * @param {Choices} chosen
 * @param {Does} does
 */
export function startFailed(app, state, going, chosen, does) {
  const where = chosen.device?.name ?? 'this machine';
  const error = going.error ?? { message: '' };
  const { code = '' } = error;
  const [title, text] = failureWords(error, chosen.agent?.title ?? 'The agent', where);
  const live = going.id ? state.live[going.id] : null;
  const said = live?.failure?.stderr_tail?.trim() ?? '';
  return h(
    'section',
    { class: 'card steps failure-card', role: 'alert', 'data-key': 'failed' },
    h('header', null, icon('alert', 18), h('div', null, h('h2', null, title), h('p', null, visible(text)))),
    h(
      'ol',
      { class: 'step-list' },
      going.id && stepsDone(where, chosen.agent, exitWords(code, live?.failure, live?.steps.started)),
    ),
    (code === 'OFFLINE' || code === 'DEVICE_OFFLINE') && doctorLine(app),
    said && saidView(said),
    h(
      'footer',
      null,
      footButtons(app, error, chosen, does),
      h('span', { class: 'spacer' }),
      copyButton('Copy details', () => app.copy([title, text, said].filter(Boolean).join('\n'))),
    ),
  );
}

/**
 * @param {string} where
 * @param {Choices['agent'] | undefined} agent
 * @param {string} how it ended
 */
const stepsDone = (where, agent, how) => [
  h('li', { class: 'is-done' }, icon('check'), h('span', null, `Reached ${where}`)),
  h(
    'li',
    { class: 'is-failed' },
    icon('x'),
    h('span', null, `Start ${agent?.title ?? 'the agent'}${agent?.version ? ` ${agent.version}` : ''}`),
    h('small', null, how),
  ),
];

/** @param {App} app */
const doctorLine = (app) =>
  h(
    'p',
    { class: 'command-line' },
    h('code', null, 'bascule doctor'),
    h('span', null, 'run there, says what is wrong'),
    copyButton('Copy bascule doctor', () => app.copy('bascule doctor')),
  );

/** @param {string} said */
const saidView = (said) =>
  h(
    'details',
    { class: 'stderr', open: true },
    h('summary', null, h('span', { class: 'disclosure' }, icon('right', 12)), 'What it said'),
    h('pre', { tabindex: 0 }, visible(said).slice(-MAX_SAID)),
  );

/**
 * @param {App} app
 * @param {Failure} error
 * @param {Choices} chosen
 * @param {Does} does
 */
function footButtons(app, error, { agent, usable }, does) {
  const { code = '' } = error;
  const offer = offerOf(error);
  const folder = code === 'INVALID_DIRECTORY';
  const other = MAY_USE_ANOTHER.includes(code)
    ? usable.find((otherAgent) => otherAgent !== agent && !otherAgent.demo)
    : undefined;
  return [
    folder && button('is-primary', does.typePath, icon('folder', 14), 'Change the folder'),
    offer && button('is-primary', () => does.endAndStart(offer.sessionId), offerWords(offer, 'start')),
    button(folder || offer ? 'line' : 'is-primary', does.retry, icon('refresh', 14), 'Try again'),
    code === 'LIMIT_REACHED' &&
      button('line', () => app.go({ name: 'settings', part: 'limits' }), icon('gear', 14), 'Settings'),
    code === 'START_TIMEOUT' && button('line', does.wait, 'Keep waiting'),
    other && button('quiet', () => does.use(other.name), `Use ${other.title} instead`),
    button('quiet', does.giveUp, 'Cancel'),
  ];
}

/**
 * @param {string} kind
 * @param {() => void} onclick
 * @param {...import('../../js/dom.js').Child} children
 */
const button = (kind, onclick, ...children) =>
  h('button', { type: 'button', class: `button ${kind}`, onclick }, ...children);
