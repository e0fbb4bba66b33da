/** The button that stops every agent on every machine, after one question; then what became of it on each. */

import { h } from '../../js/dom.js';
import { count } from '../../js/format.js';
import { icon } from '../../js/icons.js';
import { visible } from '../../js/visible.js';
import { several } from '../machines.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('../../js/types.d.ts').DeviceOutcome} Outcome */

/**
 * @param {App} app
 * @param {() => void} again
 */
export function stopEverything(app, again) {
  let asked = false;
  /** What became of it, while it is shown. @type {Outcome[]} */
  let outcomes = [];
  const ask = (/** @type {boolean} */ now) => {
    asked = now;
    outcomes = [];
    again();
  };
  const stop = () => {
    asked = false;
    void app.api
      .stopEverything()
      .then((answer) => {
        outcomes = answer.devices ?? [];
        if (outcomes.length < 2) app.note(outcomes.map(outcomeWords).join(' ') || `${answer.ended} stopped.`);
      }, app.trouble)
      .finally(again);
  };
  return (/** @type {State} */ state) => {
    if (state.me && state.me.role !== 'owner') return null;
    if (asked) return question(state, stop, () => ask(false));
    return outcomes.length > 1 ? result(outcomes, () => ask(false)) : button(() => ask(true));
  };
}

/**
 * "laptop: will stop when it is back."
 * @param {Outcome} outcome
 */
export function outcomeWords(outcome) {
  const name = visible(outcome.name);
  if (outcome.outcome === 'waiting') return `${name}: will stop when it is back.`;
  if (outcome.outcome === 'refused') return `${name}: not stopped. ${visible(outcome.message ?? '')}`;
  return `${name}: ${outcome.ended ? `${count(outcome.ended, 'agent')} stopped` : 'nothing ran'}.`;
}

/** @param {() => void} onclick */
const button = (onclick) =>
  h('button', { type: 'button', class: 'panic', onclick }, icon('stop'), h('span', null, 'Stop everything'));

/**
 * @param {Outcome[]} outcomes
 * @param {() => void} done
 */
const result = (outcomes, done) =>
  h(
    'div',
    { class: 'card sure', role: 'status', 'aria-label': 'What was stopped' },
    h(
      'ul',
      { class: 'outcomes' },
      outcomes.map((outcome) =>
        h(
          'li',
          { 'data-key': outcome.device, class: `is-${outcome.outcome}` },
          icon(MARKS[outcome.outcome], 14),
          h('span', null, outcomeWords(outcome)),
        ),
      ),
    ),
    h('button', { type: 'button', class: 'button line', onclick: done }, 'Done'),
  );

const MARKS = { done: 'check', waiting: 'clock', refused: 'alert' };

/**
 * @param {State} state
 * @param {() => void} stop
 * @param {() => void} cancel
 */
function question(state, stop, cancel) {
  const running = Object.values(state.sessions).filter(
    (session) => !['ended', 'failed'].includes(session.phase),
  ).length;
  const away = state.devices.filter((device) => !device.online).map((device) => device.name);
  const where = several(state) ? count(state.devices.length, 'machine') : (state.devices[0]?.name ?? 'this machine');
  return h(
    'div',
    { class: 'card sure', role: 'alertdialog', 'aria-label': 'Stop everything' },
    h(
      'p',
      null,
      `Stop all ${count(running, 'agent')} on ${where} now?`,
      away.length > 0 && ` ${away.join(', ')} ${away.length === 1 ? 'is' : 'are'} away.`,
    ),
    h('button', { type: 'button', class: 'button danger', onclick: stop }, 'Stop everything'),
    h('button', { type: 'button', class: 'button quiet', onclick: cancel }, 'Cancel'),
  );
}
