/** Sessions started outside Bascule: a group of the sidebar, kept fresh while the page is looked at. */

import { h, update } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { visible } from '../../js/visible.js';
import { age, count, folderName, money } from '../../js/format.js';
import { agentLetter, dot } from '../parts.js';
import { shownSession } from '../state.js';
import { openTerminal, terminalNote, terminalWords } from './found_session.js';
import { hereId, onDevice, several } from '../machines.js';
import { own, put } from '../../js/tables.js';

const DOTS = { idle: 'waiting', waiting: 'blocked', working: 'running' };

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('../state.js').FoundItem} FoundItem */

export const GROUP = 'found:';
const FEW = 5;
const LISTED = 50; // while not all are shown
const LOOK_MS = 15_000;
const PROGRESS_MS = 700;
const FOLLOW_MS = 2_000;
/** When the list was last asked for. */
let asked = 0;

/**
 * Keeps the list fresh while the page is looked at, and follows the session in view.
 * @param {HTMLElement} composer
 * @param {App} app
 */
export function mountFound(composer, app) {
  const bar = h('div', { id: 'foundbar' });
  composer.before(bar);
  let asking = false;
  let followed = { id: '', at: 0 };

  /** @param {State} state */
  function look(state) {
    const lists = Object.values(state.found);
    const looking = lists.some((list) => list.looking.running);
    const wait = looking ? PROGRESS_MS : LOOK_MS;
    const me = state.me;
    if (
      asking ||
      !me ||
      me.role === 'session' ||
      me.sessionId ||
      state.line.phase !== 'live' ||
      document.hidden ||
      Date.now() - asked < wait
    )
      return;
    const devices = state.devices.filter(
      (device) => device.online && (isOpen(state, device) || !state.found[device.device]),
    );
    if (!devices.length) return;
    asking = true;
    asked = Date.now();
    const limit = state.foundAll ? 1000 : LISTED;
    const answers = devices.map(async ({ device }) => {
      const found = await app.api.found(limit, onDevice(state, device)).catch(() => null); // asked again in a while
      if (found) app.store.set((now) => ({ found: put(now.found, device, found) }));
    });
    void Promise.all(answers).finally(() => {
      asking = false;
    });
  }

  /** @param {State} state */
  function follow(state) {
    const id = shownSession(state) ?? '';
    if (!state.sessions[id]?.found || state.line.phase !== 'live' || document.hidden) return;
    if (followed.id === id && Date.now() - followed.at < FOLLOW_MS) return;
    followed = { id, at: Date.now() };
    app.api.follow(id).then(
      (now) => {
        app.store.set((known) => ({
          foundOpen: put(known.foundOpen, id, { terminal: now.terminal ?? null, command: now.command ?? '' }),
        }));
        // The person in the terminal went back in it, so it had to be read anew.
        if (now.sessionId !== id && shownSession(app.store.get()) === id)
          app.go({ name: 'session', id: now.sessionId });
      },
      () => undefined,
    ); // it may have been continued in this moment; the next look tells
  }

  /** @param {State} state */
  const draw = (state) => {
    look(state);
    follow(state);
    const session = state.sessions[shownSession(state) ?? ''];
    update(
      bar,
      session?.found && state.route.name === 'session' && openTerminal(state, session)
        ? [terminalNote(state, session)]
        : [],
    );
  };
  app.store.subscribe(draw);
}

/**
 * @param {State} state
 * @param {import('../state.js').Device} device
 */
const keyOf = (state, { device }) => (!hereId(state) || device === hereId(state) ? GROUP : `${GROUP}${device}`);

/**
 * @param {State} state
 * @param {import('../state.js').Device} device
 */
const isOpen = (state, device) =>
  !state.collapsed.includes(keyOf(state, device)) || Boolean(state.found[device.device]?.looking.running);

/**
 * One group for each machine.
 * @param {State} state
 * @param {App} app
 */
export const foundGroups = (state, app) => state.devices.map((device) => foundGroup(state, app, device));

/**
 * @param {State} state
 * @param {App} app
 * @param {import('../state.js').Device} device
 */
function foundGroup(state, app, device) {
  const found = state.found[device.device];
  if (!found || (!found.total && !(found.looking.running && found.looking.total))) return null;
  const key = keyOf(state, device);
  const name = several(state) ? `On ${device.name}` : 'On this machine';
  const closed = state.collapsed.includes(key);
  const toggle = () =>
    app.store.set((now) => ({
      collapsed: closed ? now.collapsed.filter((other) => other !== key) : [...now.collapsed, key],
    }));
  const all = found.sessions.filter((session) => !session.archived);
  const shown = state.foundAll ? all : all.filter((item, n) => n < FEW || item.terminal);
  return h(
    'section',
    { class: 'session-group', 'data-key': key, 'aria-label': name },
    h(
      'div',
      { class: 'session-group__head' },
      h(
        'button',
        {
          type: 'button',
          class: 'session-group__toggle',
          title: 'Sessions started outside Bascule',
          'aria-expanded': String(!closed),
          onclick: toggle,
        },
        h('span', { class: `disclosure ${closed ? '' : 'down'}` }, icon('right', 12)),
        icon('device', 14),
        h('span', { class: 'session-group__name' }, name),
        h('span', { class: 'count' }, String(found.total)),
      ),
    ),
    !closed && progress(found.looking),
    !closed && shown.map((item) => foundRow(state, app, item)),
    !closed &&
      all.length > shown.length &&
      moreRow(`Show all ${found.sessions.length < found.total ? found.total : all.length}`, () => {
        asked = 0;
        app.store.set({ foundAll: true });
      }),
    !closed && state.foundAll && all.length > FEW && moreRow('Show fewer', () => app.store.set({ foundAll: false })),
  );
}

/**
 * @param {string} label
 * @param {() => void} run
 */
const moreRow = (label, run) =>
  h(
    'button',
    { type: 'button', class: 'session-row found-more', 'data-key': label, onclick: run },
    h('span', { class: 'session-row__text' }, h('span', { class: 'session-row__title' }, label)),
  );

/** @param {{running: boolean, done: number, total: number}} looking */
function progress(looking) {
  if (!looking.running || !looking.total) return null;
  return h(
    'div',
    { class: 'found-progress', 'data-key': 'progress' },
    h('span', null, `Reading ${looking.done + 1} of ${looking.total}`),
    h('progress', {
      max: String(looking.total),
      value: String(looking.done),
      'aria-label': 'Reading the sessions on this machine',
    }),
  );
}

/**
 * @param {State} state
 * @param {App} app
 * @param {FoundItem} item
 */
function foundRow(state, app, item) {
  const chosen = shownSession(state) === item.sessionId && state.route.name === 'session';
  const status = item.terminal ? (own(DOTS, item.terminal.status) ?? 'running') : 'ended';
  const word = item.terminal ? `open in a terminal, ${terminalWords(item.terminal)}` : 'over';
  const facts = item.terminal
    ? [`In a terminal, ${terminalWords(item.terminal)}`]
    : [folderName(item.cwd), count(item.messages, 'message')];
  return h(
    'button',
    {
      type: 'button',
      class: `session-row is-double ${chosen ? 'is-selected' : ''}`,
      'data-key': item.sessionId,
      'aria-current': chosen ? 'page' : null,
      title: [item.cwd, item.costUsd ? money(item.costUsd) : ''].filter(Boolean).join(' · '),
      onclick: () => app.go({ name: 'session', id: item.sessionId }),
    },
    dot(status, word),
    h(
      'span',
      { class: 'session-row__text' },
      h('span', { class: 'session-row__title' }, visible(item.title ?? '') || 'Untitled'),
      h(
        'span',
        { class: 'session-row__details' },
        agentLetter(item.agent),
        h('span', { class: 'words' }, facts.filter(Boolean).join(' · ')),
      ),
    ),
    h('span', { class: 'session-row__age' }, age(item.updatedAt, Date.now())),
  );
}
