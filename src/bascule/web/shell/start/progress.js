/** A start besides its composer: the first welcome, and the steps on the way. */

import { h } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { duration } from '../../js/format.js';
import { visible } from '../../js/visible.js';
import { dot } from '../parts.js';
import { leftWords, waitsOn } from './waiting_starts.js';

/** @typedef {import('../state.js').State} State */
/** @typedef {import('./starting.js').Going} Going */
/** @typedef {import('./chips.js').Choices} Choices */

/** First run: what this is, in two sentences. */
export const welcome = () =>
  h(
    'div',
    { class: 'first-run', 'data-key': 'welcome' },
    h('p', { class: 'mark' }, icon('logo', 44)),
    h('h1', { class: 'hero' }, 'Nothing crosses until you say so'),
    h(
      'p',
      { class: 'lead' },
      'Bascule runs the coding agents on your machines from this page. What they ask for comes to ' +
        'you first, unless you made a rule for it.',
    ),
  );

/**
 * Nothing is started yet.
 * @param {import('../../js/types.js').WaitingStart} start
 * @param {import('../state.js').Device} device
 * @param {() => void} cancel
 */
const waitingSteps = (start, device, cancel) =>
  h(
    'div',
    { class: 'going', 'data-key': 'approval' },
    h('h1', { class: 'hero is-small' }, dot('starting', 'waiting'), waitsOn(device)),
    h(
      'section',
      { class: 'card steps waiting-card', role: 'status', 'aria-label': 'Approval' },
      h(
        'p',
        null,
        `${device.name} asks before it starts anything from elsewhere. Approve it there: by the notification, or with`,
      ),
      h('p', { class: 'command-line' }, h('code', null, `bascule starts approve ${start.id}`)),
      (start.reasons ?? []).length > 0 && h('p', null, `Unusual: ${visible((start.reasons ?? []).join('; '))}.`),
      start.message && h('p', null, visible(start.message)),
      h(
        'footer',
        null,
        h('span', { class: 'hint' }, `${leftWords(start, Date.now())} left. You can close this page.`),
        h('span', { class: 'spacer' }),
        h('button', { type: 'button', class: 'button quiet', onclick: cancel }, 'Cancel'),
      ),
    ),
  );

/**
 * @param {State} state
 * @param {Going} going
 * @param {Choices} chosen
 * @param {() => void} cancel
 */
export function startSteps(state, going, { agent, device }, cancel) {
  if (going.waiting && device) return waitingSteps(going.waiting, device, cancel);
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
      'Waiting for its first response',
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
        h('span', { class: 'hint' }, 'You can close this page; it continues.'),
        h('span', { class: 'spacer' }),
        h('button', { type: 'button', class: 'button quiet', onclick: cancel }, 'Cancel'),
      ),
    ),
  );
}
