/** Sessions begun outside Bascule: a group of the sidebar, kept fresh while the page is looked at. */

import { h, update } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { visible } from '../../js/visible.js';
import { age, count, folderName, money } from '../../js/format.js';
import { agentLetter, dot } from '../parts.js';
import { shownSession } from '../state.js';
import { openTerminal, terminalNote, terminalWords } from './found_session.js';
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
    const wait = state.found?.looking.running ? PROGRESS_MS : LOOK_MS;
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
    if (state.found && state.collapsed.includes(GROUP) && !state.found.looking.running) return;
    asking = true;
    asked = Date.now();
    app.api
      .found(state.foundAll ? 1000 : LISTED)
      .then(
        (found) => app.store.set({ found }),
        () => undefined,
      ) // the device is away: asked again in a while
      .finally(() => {
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
 * @param {App} app
 */
export function foundGroup(state, app) {
  const found = state.found;
  if (!found || (!found.total && !found.looking.running)) return null;
  const closed = state.collapsed.includes(GROUP);
  const toggle = () =>
    app.store.set((now) => ({
      collapsed: closed ? now.collapsed.filter((one) => one !== GROUP) : [...now.collapsed, GROUP],
    }));
  const all = found.sessions.filter((one) => !one.archived);
  const shown = state.foundAll ? all : all.filter((one, n) => n < FEW || one.terminal);
  return h(
    'section',
    { class: 'session-group', 'data-key': GROUP, 'aria-label': 'On this machine' },
    h(
      'div',
      { class: 'session-group__head' },
      h(
        'button',
        {
          type: 'button',
          class: 'session-group__toggle',
          title: 'Sessions begun outside Bascule',
          'aria-expanded': String(!closed),
          onclick: toggle,
        },
        h('span', { class: `disclosure ${closed ? '' : 'down'}` }, icon('right', 12)),
        icon('device', 14),
        h('span', { class: 'session-group__name' }, 'On this machine'),
        h('span', { class: 'count' }, String(found.total)),
      ),
    ),
    !closed && progress(found.looking),
    !closed && shown.map((one) => foundRow(state, app, one)),
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
 * @param {FoundItem} one
 */
function foundRow(state, app, one) {
  const chosen = shownSession(state) === one.sessionId && state.route.name === 'session';
  const status = one.terminal ? (own(DOTS, one.terminal.status) ?? 'running') : 'ended';
  const word = one.terminal ? `open in a terminal, ${terminalWords(one.terminal)}` : 'over';
  const facts = one.terminal
    ? [`In a terminal, ${terminalWords(one.terminal)}`]
    : [folderName(one.cwd), count(one.messages, 'message'), one.costUsd ? money(one.costUsd) : ''];
  return h(
    'button',
    {
      type: 'button',
      class: `session-row is-double ${chosen ? 'is-selected' : ''}`,
      'data-key': one.sessionId,
      'aria-current': chosen ? 'page' : null,
      title: one.cwd,
      onclick: () => app.go({ name: 'session', id: one.sessionId }),
    },
    dot(status, word),
    h(
      'span',
      { class: 'session-row__text' },
      h('span', { class: 'session-row__title' }, visible(one.title ?? '') || 'Without a title'),
      h(
        'span',
        { class: 'session-row__details' },
        agentLetter(one.agent),
        h('span', { class: 'words' }, facts.filter(Boolean).join(' · ')),
      ),
    ),
    h('span', { class: 'session-row__age' }, age(one.updatedAt, Date.now())),
  );
}
