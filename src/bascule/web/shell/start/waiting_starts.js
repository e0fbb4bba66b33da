/** Starts that wait for approval on their machine: rows of the list, cards of the inbox, and the words for both. */

import { h } from '../../js/dom.js';
import { isNear } from '../../js/format.js';
import { icon } from '../../js/icons.js';
import { visible } from '../../js/visible.js';
import { GUARD } from '../requests/answering.js';
import { mayStart } from '../state.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('../state.js').Device} Device */
/** @typedef {import('../../js/types.js').WaitingStart} WaitingStart */
/** @typedef {{device: Device, start: WaitingStart}} Waiting */

/** Since when each start has been in sight: one that just came under the pointer takes no press. */
const since = new Map();

/** @param {WaitingStart} start */
function isInert(start) {
  if (!since.has(start.id)) since.set(start.id, performance.now());
  return performance.now() - since.get(start.id) < GUARD;
}

/**
 * @param {State} state
 * @returns {Waiting[]} oldest first
 */
export const waitingStarts = (state) =>
  state.devices
    .filter((device) => device.online)
    .flatMap((device) => (device.starts?.waiting ?? []).map((start) => ({ device, start })))
    .filter(({ start }) => (start.state ?? 'waiting') === 'waiting')
    .sort((one, other) => one.start.askedAt - other.start.askedAt);

/**
 * What the machine says of the start of a session, also of one that is over.
 * @param {State} state
 * @param {string} sessionId
 */
export const startOf = (state, sessionId) =>
  state.devices.flatMap((device) => device.starts?.waiting ?? []).find((start) => start.sessionId === sessionId);

/**
 * "4:07"
 * @param {WaitingStart} start
 * @param {number} now
 */
export function leftWords(start, now) {
  const left = Math.max(0, Math.round(start.expiresAt - now / 1000));
  return `${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')}`;
}

/** @param {Device} device */
export const waitsOn = (device) => `Waiting for approval on ${device.name}…`;

/**
 * Whether this page may approve: it comes from the machine itself, and is open there.
 * @param {State} state
 * @param {Device} device
 */
export const mayApprove = (state, device) =>
  device.device === state.me?.device && isNear(location.hostname) && state.me.role === 'owner';

/**
 * @param {State} state
 * @param {App} app
 */
export function waitingGroup(state, app) {
  const waiting = waitingStarts(state);
  if (!waiting.length || !mayStart(state)) return null;
  return h(
    'div',
    {
      class: 'session-group waiting-starts',
      'data-key': 'waiting-starts',
      role: 'group',
      'aria-label': 'Waiting for approval',
    },
    waiting.map(({ device, start }) =>
      h(
        'button',
        { type: 'button', class: 'waiting-start', 'data-key': start.id, onclick: () => app.go({ name: 'inbox' }) },
        icon('shield', 16),
        h(
          'span',
          { class: 'waiting-start__text' },
          h('b', null, visible(start.words || start.what)),
          h('span', null, waitsOn(device)),
        ),
        h('small', null, leftWords(start, Date.now())),
      ),
    ),
  );
}

/**
 * @param {State} state
 * @param {App} app
 */
export function waitingCards(state, app) {
  const waiting = mayStart(state) ? waitingStarts(state) : [];
  return (
    waiting.length > 0 &&
    h(
      'div',
      { class: 'waiting-cards', 'data-key': 'starts' },
      waiting.map((start) => waitingCard(state, app, start)),
    )
  );
}

/**
 * @param {State} state
 * @param {App} app
 * @param {Waiting} waiting
 */
function waitingCard(state, app, { device, start }) {
  const approves = mayApprove(state, device);
  const decide = (/** @type {'approve' | 'deny' | 'block'} */ decision) =>
    void app.api
      .decideStart(start.id, decision)
      .then(() => decision === 'approve' && app.go({ name: 'session', id: start.sessionId }), app.trouble);
  return h(
    'section',
    { class: 'card waiting-card', 'data-key': start.id, 'aria-label': waitsOn(device) },
    h(
      'header',
      null,
      icon('shield', 18),
      h('h2', null, approves ? `Allow a session on ${device.name}?` : waitsOn(device)),
      h('small', null, leftWords(start, Date.now())),
    ),
    startFacts(start),
    h(
      'footer',
      null,
      approves
        ? answerButtons(decide, isInert(start))
        : [
            h('p', { class: 'hint' }, `Approve it there: by its notification, in a browser on ${device.name}, or with`),
            h('code', null, `bascule starts approve ${start.id}`),
            h('span', { class: 'spacer' }),
            button('quiet', () => void app.api.withdrawStart(start.id, device.device).catch(app.trouble), 'Withdraw'),
          ],
    ),
  );
}

/**
 * What is asked for, and by whom.
 * @param {WaitingStart} start
 */
export const startFacts = (start) =>
  h(
    'dl',
    { class: 'facts' },
    fact('What', visible(start.what)),
    start.folder && fact('Folder', h('code', null, visible(start.folder))),
    start.words && fact('Prompt', h('span', { class: 'waiting-card__words' }, visible(start.words))),
    fact('From', visible([start.by, start.browser, start.address, start.via].filter(Boolean).join(', '))),
    (start.reasons ?? []).length > 0 && fact('Unusual', visible((start.reasons ?? []).join('; '))),
    start.message && fact('Note', visible(start.message)),
  );

/**
 * @param {(decision: 'approve' | 'deny' | 'block') => void} decide
 * @param {boolean} [inert] it can't be approved yet
 */
export const answerButtons = (decide, inert = false) => [
  h(
    'button',
    {
      type: 'button',
      class: 'button is-primary',
      'data-key': 'Approve',
      disabled: inert,
      onclick: () => decide('approve'),
    },
    'Approve',
  ),
  button('line', () => decide('deny'), 'Deny'),
  h('span', { class: 'spacer' }),
  button('quiet', () => decide('block'), 'Block all for 24 h'),
];

/**
 * @param {string} name
 * @param {import('../../js/dom.js').Child} value
 */
const fact = (name, value) => h('div', { 'data-key': name }, h('dt', null, name), h('dd', null, value));

/**
 * @param {string} kind
 * @param {() => void} onclick
 * @param {string} label
 */
const button = (kind, onclick, label) =>
  h('button', { type: 'button', class: `button ${kind}`, 'data-key': label, onclick }, label);
