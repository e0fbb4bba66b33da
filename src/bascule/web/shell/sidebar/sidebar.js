/** The list of sessions: projects and folders, those that need a person first, machines at the bottom. */

import { guarded } from '../requests/guard.js';
import { h, iconButton, update } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { count } from '../../js/format.js';
import { foundGroups } from './found.js';
import { fillSlot, folderField, slot } from '../start/folder.js';
import { keyCap } from '../parts.js';
import { pinnedGroup, projectGroups, showMore } from './projects.js';
import { sessionRow } from './rows.js';
import { deviceById, several, usualDevice } from '../machines.js';
import { machineSelect } from '../machine_select.js';
import { machineIndicator } from './machine_indicator.js';
import { filledRecord, mayStart, openRequests } from '../state.js';
import { waitingGroup } from '../start/waiting_starts.js';
import { unloggedGroup } from './unlogged.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('../state.js').SessionRecord} SessionRecord */

/**
 * @param {HTMLElement} root
 * @param {App} app
 * @param {{palette: () => void}} open
 */
export function mountSidebar(root, app, open) {
  let adding = false;
  let chosen = ''; // the machine whose folder is added
  const again = () => draw(app.store.get());
  const device = () => (deviceById(app.store.get(), chosen)?.online ? chosen : usualDevice(app.store.get())?.device);
  const field = folderField(app, {
    label: 'Folder of the project',
    button: 'Add',
    main: true,
    device,
    take: async (path) => {
      await app.api.addProject(path, device());
      close();
    },
    cancel: () => close(),
  });
  function close() {
    adding = false;
    again();
    /** @type {HTMLElement | null} */ (root.querySelector('.addproject'))?.focus();
  }
  function add() {
    adding = true;
    if (!app.store.get().side) app.store.set({ side: true });
    app.store.flush();
    again();
    field.focus();
  }

  /** @param {State} state */
  function draw(state) {
    update(root, [
      ...sideTop(app, open.palette),
      navs(app, state),
      h(
        'div',
        { class: 'groups' },
        waitingGroup(state, app),
        unloggedGroup(state, app, again),
        pinnedGroup(state, app, again),
        projectsHead(state, adding, () => (adding ? close() : add())),
        adding && several(state) && machineField(state, device() ?? '', (id) => ((chosen = id), again())),
        adding && slot('add'),
        ...projectGroups(state, app, again),
        ...foundGroups(state, app),
        archive(state, app, again),
      ),
      foot(app, state),
    ]);
    if (adding) fillSlot(root, 'add', field.form);
  }
  app.offer({ icon: 'folder', label: 'Add a project', when: () => mayStart(app.store.get()), run: add });
  app.store.subscribe(draw);
  draw(app.store.get());
}

/**
 * @param {App} app
 * @param {() => void} palette
 */
const sideTop = (app, palette) => [
  h(
    'div',
    { class: 'side-top' },
    h('span', { class: 'brand' }, icon('logo', 20), h('b', null, 'Bascule')),
    h('span', { class: 'spacer' }),
    iconButton('side', 'Hide the sidebar (Ctrl B)', { onclick: () => app.store.set({ side: false }) }),
  ),
  h(
    'button',
    { type: 'button', class: 'searchbox', onclick: palette },
    icon('search'),
    h('span', null, 'Search or run a command'),
    keyCap('Ctrl K'),
  ),
];

/**
 * @param {App} app
 * @param {State} state
 */
function navs(app, state) {
  const { name } = state.route;
  const waiting = badge(openRequests(state).length + guarded(state).length);
  return h(
    'div',
    { class: 'nav-list' },
    mayStart(state) && navRow('plus', 'New session', 'is-new', () => app.go({ name: 'start' }), keyCap('N')),
    navRow('inbox', 'Inbox', name === 'inbox' ? 'is-selected' : '', () => app.go({ name: 'inbox' }), waiting),
    navRow('columns', 'Compare', name === 'compare' ? 'is-selected' : '', () => app.go({ name: 'compare' })),
    navRow('book', 'Library', name === 'library' ? 'is-selected' : '', () => app.go({ name: 'library' })),
  );
}

/**
 * @param {State} state
 * @param {boolean} adding
 * @param {() => void} toggle
 */
const projectsHead = (state, adding, toggle) =>
  h(
    'div',
    { class: 'session-group__head head' },
    h('p', { class: 'caption' }, 'Projects'),
    h('span', { class: 'spacer' }),
    mayStart(state) &&
      iconButton('plus', 'Add a project', {
        class: 'is-small addproject',
        'aria-expanded': String(adding),
        onclick: toggle,
      }),
  );

/**
 * Whose folder it is: the same path means another one on each machine.
 * @param {State} state
 * @param {string} now
 * @param {(device: string) => void} choose
 */
const machineField = (state, now, choose) =>
  h(
    'label',
    { class: 'machine-field', 'data-key': 'machine' },
    h('span', null, 'On'),
    machineSelect(state, now, choose),
  );

/**
 * @param {App} app
 * @param {State} state
 */
const foot = (app, state) =>
  h(
    'div',
    { class: 'device-list' },
    h('p', { class: 'caption' }, several(state) ? 'Machines' : 'Machine'),
    state.devices.length > 0 && machineIndicator(app, state),
    h(
      'div',
      { class: 'side-foot' },
      navRow('gear', 'Settings', state.route.name === 'settings' ? 'is-selected' : '', () =>
        app.go({ name: 'settings', part: 'general' }),
      ),
      iconButton('sun', 'Change the theme', {
        onclick: () => app.store.set((now) => ({ theme: nextTheme(now.theme) })),
      }),
    ),
  );

/** @param {string} theme */
export const nextTheme = (theme) => {
  const dark = theme === 'dark' || (theme === 'auto' && matchMedia('(prefers-color-scheme: dark)').matches);
  return dark ? 'light' : 'dark';
};

/** @param {number} n */
export const badge = (n) =>
  n > 0 && h('span', { class: 'badge', role: 'img', 'aria-label': `${count(n, 'request')} waiting` }, String(n));

/**
 * @param {string} mark
 * @param {string} label
 * @param {string} kind
 * @param {() => void} run
 * @param {import('../../js/dom.js').Child} [more]
 */
const navRow = (mark, label, kind, run, more) =>
  h(
    'button',
    {
      type: 'button',
      class: `nav-item ${kind}`,
      onclick: run,
      'aria-current': kind.includes('is-selected') ? 'page' : null,
    },
    icon(mark),
    h('span', null, label),
    more,
  );

/**
 * Put away, not gone.
 * @param {State} state
 * @param {App} app
 * @param {() => void} again
 */
function archive(state, app, again) {
  if (!state.loaded || !mayStart(state)) return null;
  const show = (/** @type {string | null} */ cursor = null) =>
    void Promise.all([app.api.sessions({ archived: true, ...(cursor ? { cursor } : {}) }), app.api.counts()]).then(
      ([page, counts]) =>
        app.store.set((now) => ({
          archived: [...(cursor ? (now.archived ?? []) : []), ...page.sessions.map(filledRecord)],
          moreArchived: page.next ?? null,
          ...(now.more === null ? {} : { counts }),
          archivedCount: counts.archived,
        })),
      app.trouble,
    );
  const put = archivedNow(state);
  const total = state.moreArchived ? Math.max(put.length, state.archivedCount) : put.length;
  return h(
    'section',
    { class: 'session-group', 'data-key': 'archive', 'aria-label': 'Archived' },
    h(
      'div',
      { class: 'session-group__head' },
      h(
        'button',
        {
          type: 'button',
          class: 'session-group__toggle quietly',
          'aria-expanded': String(state.archived !== null),
          onclick: () => (state.archived ? app.store.set({ archived: null, moreArchived: null }) : show()),
        },
        h('span', { class: `disclosure ${state.archived ? 'down' : ''}` }, icon('right', 12)),
        h('span', { class: 'session-group__name' }, 'Archived'),
        state.archived && h('span', { class: 'count' }, String(total)),
      ),
    ),
    state.archived &&
      (put.length
        ? put.map((session) => sessionRow(state, app, session, again))
        : h('p', { class: 'nothing' }, 'Nothing is archived.')),
    state.archived && state.moreArchived && showMore(total - put.length, () => show(state.moreArchived)),
  );
}

/**
 * What was archived when the list was asked for, and what went in or out since.
 * @param {State} state
 */
function archivedNow(state) {
  const listed = state.archived ?? [];
  const since = Object.values(state.sessions).filter(
    (session) => session.archived && !listed.some((other) => other.session_id === session.session_id),
  );
  return [
    ...since,
    ...listed.map((session) => state.sessions[session.session_id] ?? session).filter((session) => session.archived),
  ];
}
