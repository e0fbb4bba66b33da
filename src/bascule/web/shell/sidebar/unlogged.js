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
    const online = state.devices.filter((device) => device.online).map((device) => device.device);
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
    .filter((device) => device.online)
    .map(async ({ device }) => {
      const where = onDevice(state, device);
      const found = await app.api.unlogged(where).catch(() => []); // its next connect asks again
      return found.map((session) => ({ ...session, ...where }));
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
    state.unlogged.map((unlogged) => process(app, unlogged, again)),
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
 * @param {Unlogged} unlogged
 * @param {() => void} again
 */
function process(app, unlogged, again) {
  const title = visible(unlogged.title || unlogged.agent || unlogged.argv.join(' ') || unlogged.name);
  const facts = [
    unlogged.device && deviceName(app.store.get(), unlogged),
    unlogged.running ? 'running' : 'ended',
    unlogged.pid && `pid ${unlogged.pid}`,
    unlogged.startedAt && age(unlogged.startedAt, Date.now()),
    `${Math.ceil(unlogged.keptBytes / 1024)} KB kept`,
  ]
    .filter(Boolean)
    .join(' · ');
  return h(
    'div',
    { class: 'unlogged__row', 'data-key': unlogged.name },
    h('b', null, title),
    h('small', null, facts),
    h('small', { class: 'mono' }, visible(unlogged.cwd)),
    h(
      'small',
      { class: 'mono', title: visible(unlogged.argv.join(' ')) },
      visible(unlogged.argv.join(' ').slice(0, MAX_COMMAND)),
    ),
    h('small', null, visible(unlogged.problem)),
    asked === unlogged.name
      ? sure(app, unlogged, again)
      : h(
          'span',
          { class: 'acts' },
          unlogged.canTakeUp &&
            h(
              'button',
              {
                type: 'button',
                class: 'button is-small line',
                disabled: busy === unlogged.name,
                onclick: () => takeUp(app, unlogged, again),
              },
              icon('play'),
              'Recover',
            ),
          h(
            'button',
            {
              type: 'button',
              class: 'button is-small quiet',
              disabled: busy === unlogged.name,
              onclick: () => {
                asked = unlogged.name;
                again();
              },
            },
            icon('stop'),
            unlogged.running ? 'End' : 'Set aside',
          ),
        ),
  );
}

/**
 * @param {App} app
 * @param {Unlogged} unlogged
 * @param {() => void} again
 */
const sure = (app, unlogged, again) =>
  h(
    'span',
    { class: 'acts', role: 'group', 'aria-label': 'End it?' },
    h('small', null, unlogged.running ? 'End it? What it wrote is set aside.' : 'What it wrote is set aside.'),
    h(
      'button',
      { type: 'button', class: 'button is-small danger', onclick: () => end(app, unlogged, again) },
      unlogged.running ? 'End it' : 'Set aside',
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
 * @param {Unlogged} unlogged
 * @param {() => void} again
 */
function takeUp(app, unlogged, again) {
  busy = unlogged.name;
  again();
  app.api
    .takeUp(unlogged.name, onDevice(app.store.get(), unlogged.device))
    .then(({ sessionIds }) => app.go({ name: 'session', id: sessionIds[0] }), app.trouble)
    .finally(() => {
      busy = '';
      again();
    });
}

/**
 * @param {App} app
 * @param {Unlogged} unlogged
 * @param {() => void} again
 */
function end(app, unlogged, again) {
  asked = '';
  busy = unlogged.name;
  again();
  app.api
    .endProcess(unlogged.name, onDevice(app.store.get(), unlogged.device))
    .then(({ folder }) => app.note(`Ended. What it wrote is in ${folder}`), app.trouble)
    .finally(() => {
      busy = '';
      again();
    });
}
