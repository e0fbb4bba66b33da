/**
 * What is not in the log: processes that run without a session, to take up or to end; and sessions that can't be read.
 */

import { h } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { visible } from '../../js/visible.js';
import { age, count } from '../../js/format.js';
import { deviceName, onDevice } from '../machines.js';
import { mayStart } from '../state.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('../state.js').Unlogged} Unlogged */

const MAX_COMMAND = 90; // characters of a command line

/** Which process somebody is asked about before it is ended, and which is being worked on. */
let asked = '';
let busy = '';

/**
 * Asks after each connect, and when the server says that it changed.
 * @param {App} app
 */
export function mountUnlogged(app) {
  let known = '';
  function look() {
    const { me } = app.store.get();
    if (!me || me.sessionId) return;
    app.api.damaged().then(
      (damaged) => app.store.set({ damaged }),
      () => undefined,
    ); // the next connect asks again
    if (mayStart(app.store.get())) void unloggedEverywhere(app).then((unlogged) => app.store.set({ unlogged }));
  }
  app.events.on('unlogged:changed', look);
  app.store.subscribe((state) => {
    const online = state.devices.filter((one) => one.online).map((one) => one.device);
    const now = state.line.phase === 'live' && state.me ? [state.me.boot, ...online].join(' ') : '';
    if (now && now !== known) look();
    known = now;
  });
}

/**
 * @param {App} app
 * @returns {Promise<Unlogged[]>}
 */
async function unloggedEverywhere(app) {
  const state = app.store.get();
  const lists = state.devices
    .filter((one) => one.online)
    .map(async ({ device }) => {
      const where = onDevice(state, device);
      const found = await app.api.unlogged(where).catch(() => []); // its next connect asks again
      return found.map((one) => ({ ...one, ...where }));
    });
  return (await Promise.all(lists)).flat();
}

/** @param {State} state */
export const unloggedWords = (state) =>
  state.unlogged.length
    ? `${count(state.unlogged.length, 'agent')} ` +
      `${state.unlogged.length === 1 ? 'is' : 'are'} running but not in the log.`
    : '';

/**
 * @param {State} state
 * @param {App} app
 * @param {() => void} again draws the list anew
 */
export function unloggedGroup(state, app, again) {
  if (!state.unlogged.length && !state.damaged.length) return null;
  return h(
    'section',
    { class: 'session-group unlogged', 'data-key': 'unlogged', 'aria-label': 'Not in the log' },
    h(
      'div',
      { class: 'session-group__head' },
      h(
        'span',
        { class: 'session-group__toggle' },
        icon('alert', 14),
        h('span', { class: 'session-group__name' }, state.unlogged.length ? 'Running, not in the log' : 'Damaged'),
        h('span', { class: 'count' }, String(state.unlogged.length + state.damaged.length)),
      ),
    ),
    state.unlogged.map((one) => process(app, one, again)),
    state.damaged.map((one) =>
      h(
        'div',
        { class: 'unlogged__row', 'data-key': `damaged ${one.sessionId}` },
        h('b', null, 'A session can’t be read'),
        h('small', null, visible(one.message), ' Its log is left as it is.'),
      ),
    ),
  );
}

/**
 * @param {App} app
 * @param {Unlogged} one
 * @param {() => void} again
 */
function process(app, one, again) {
  const title = visible(one.title || one.agent || one.argv.join(' ') || one.name);
  const facts = [
    one.device && deviceName(app.store.get(), one),
    one.running ? 'running' : 'ended',
    one.pid && `pid ${one.pid}`,
    one.startedAt && age(one.startedAt, Date.now()),
    `${Math.ceil(one.keptBytes / 1024)} KB kept`,
  ]
    .filter(Boolean)
    .join(' · ');
  return h(
    'div',
    { class: 'unlogged__row', 'data-key': one.name },
    h('b', null, title),
    h('small', null, facts),
    h('small', { class: 'mono' }, visible(one.cwd)),
    h(
      'small',
      { class: 'mono', title: visible(one.argv.join(' ')) },
      visible(one.argv.join(' ').slice(0, MAX_COMMAND)),
    ),
    h('small', null, visible(one.problem)),
    asked === one.name
      ? sure(app, one, again)
      : h(
          'span',
          { class: 'acts' },
          one.canTakeUp &&
            h(
              'button',
              {
                type: 'button',
                class: 'button is-small line',
                disabled: busy === one.name,
                onclick: () => takeUp(app, one, again),
              },
              icon('play'),
              'Recover',
            ),
          h(
            'button',
            {
              type: 'button',
              class: 'button is-small quiet',
              disabled: busy === one.name,
              onclick: () => {
                asked = one.name;
                again();
              },
            },
            icon('stop'),
            one.running ? 'End' : 'Set aside',
          ),
        ),
  );
}

/**
 * @param {App} app
 * @param {Unlogged} one
 * @param {() => void} again
 */
const sure = (app, one, again) =>
  h(
    'span',
    { class: 'acts', role: 'group', 'aria-label': 'End it?' },
    h('small', null, one.running ? 'End it? What it wrote is set aside.' : 'What it wrote is set aside.'),
    h(
      'button',
      { type: 'button', class: 'button is-small danger', onclick: () => end(app, one, again) },
      one.running ? 'End it' : 'Set aside',
    ),
    h(
      'button',
      {
        type: 'button',
        class: 'button is-small quiet',
        onclick: () => {
          asked = '';
          again();
        },
      },
      'Keep it',
    ),
  );

/**
 * @param {App} app
 * @param {Unlogged} one
 * @param {() => void} again
 */
function takeUp(app, one, again) {
  busy = one.name;
  again();
  app.api
    .takeUp(one.name, onDevice(app.store.get(), one.device))
    .then(({ sessionIds }) => app.go({ name: 'session', id: sessionIds[0] }), app.trouble)
    .finally(() => {
      busy = '';
      again();
    });
}

/**
 * @param {App} app
 * @param {Unlogged} one
 * @param {() => void} again
 */
function end(app, one, again) {
  asked = '';
  busy = one.name;
  again();
  app.api
    .endProcess(one.name, onDevice(app.store.get(), one.device))
    .then(({ folder }) => app.note(`Ended. What it wrote is in ${folder}`), app.trouble)
    .finally(() => {
      busy = '';
      again();
    });
}
