/** The sidebar's groups: projects people added, other folders that sessions ran in, and what can be done with each. */

import { h, iconButton } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { count } from '../../js/format.js';
import { STORAGE_ADVICE, storageFault } from '../connection/away.js';
import { begin, menu } from '../parts.js';
import { sessionRow } from './rows.js';
import { countedGroups } from '../session_list.js';
import { machineTag } from '../machines.js';
import { foldedList, groupsOf, isPinned, pinnedSessions } from '../sessions.js';
import { mayStart, shownSession } from '../state.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('../sessions.js').Group} Group */

/** Which project's name is being typed right now. @type {string | null} */
let renaming = null;

/**
 * @param {State} state
 * @param {App} app
 * @param {() => void} again
 */
export function projectGroups(state, app, again) {
  const counted = countedGroups(state);
  const groups = groupsOf(state, counted?.values());
  if (!groups.length) return [nothing(state)];
  const firstOther = groups.findIndex((group) => !group.project);
  return groups.flatMap((group, n) => [
    n === firstOther && n > 0 && h('p', { class: 'caption', 'data-key': 'others' }, 'Other folders'),
    section(state, app, group, Math.max(group.sessions.length, counted?.get(group.key)?.sessions ?? 0), again),
  ]);
}

/**
 * On a phone the list covers the banner.
 * @param {State} state
 */
function nothing(state) {
  if (storageFault(state))
    return h('p', { class: 'nothing', 'data-key': 'storage' }, `The server can’t use its database. ${STORAGE_ADVICE}`);
  return state.loaded && h('p', { class: 'nothing' }, 'Projects and their sessions will be listed here.');
}

/**
 * @param {State} state
 * @param {App} app
 * @param {() => void} again
 */
export function pinnedGroup(state, app, again) {
  const pinned = pinnedSessions(state);
  return (
    pinned.length > 0 &&
    h(
      'section',
      { class: 'session-group', 'data-key': 'pinned', 'aria-label': 'Pinned' },
      h('p', { class: 'caption session-group__pinned' }, icon('pin', 14), 'Pinned'),
      pinned.map((session) => sessionRow(state, app, session, again)),
    )
  );
}

/**
 * @param {State} state
 * @param {App} app
 * @param {Group} group
 * @param {number} total sessions, those included that this page does not hold
 * @param {() => void} again
 */
function section(state, app, group, total, again) {
  const machine = machineTag(state, group);
  const closed = state.collapsed.includes(group.key);
  const open = state.unfolded.includes(group.key);
  const shown = foldedList(group.sessions, open, [...state.pins, shownSession(state) ?? '']).filter(
    (session) => !isPinned(state, session),
  );
  const rest = total - shown.length - group.sessions.filter((session) => isPinned(state, session)).length;
  const toggle = () =>
    app.store.set((now) => ({
      collapsed: closed ? now.collapsed.filter((key) => key !== group.key) : [...now.collapsed, group.key],
    }));
  return h(
    'section',
    {
      class: 'session-group',
      'data-key': `${group.project ? 'project' : 'folder'} ${group.key}`,
      'aria-label': machine ? `${group.name} on ${machine}` : group.name,
    },
    renaming === group.key && group.project
      ? nameField(app, group, again)
      : h(
          'div',
          {
            class: 'session-group__head',
            oncontextmenu: (/** @type {On<HTMLElement, MouseEvent>} */ event) => {
              if (mayStart(state)) {
                event.preventDefault();
                groupMenu(app, event.currentTarget, group, again);
              }
            },
          },
          h(
            'button',
            {
              type: 'button',
              class: 'session-group__toggle',
              title: [group.path, machine && `on ${machine}`].filter(Boolean).join(' '),
              'aria-expanded': String(!closed),
              onclick: toggle,
            },
            h('span', { class: `disclosure ${closed ? '' : 'down'}` }, icon('right', 12)),
            icon('folder', 14),
            h('span', { class: 'session-group__name' }, group.name),
            machine && h('span', { class: 'session-group__machine' }, machine),
            h('span', { class: 'count' }, String(total)),
          ),
          mayStart(state) &&
            iconButton('more', `More for ${group.name}`, {
              class: 'is-small',
              'aria-haspopup': 'menu',
              onclick: (/** @type {On} */ event) => groupMenu(app, event.currentTarget, group, again),
            }),
          mayStart(state) &&
            iconButton('plus', `New session in ${group.name}`, {
              class: 'is-small',
              onclick: () => startIn(app, group),
            }),
        ),
    !closed &&
      (total
        ? shown.map((session) => sessionRow(state, app, session, again))
        : h('p', { class: 'nothing' }, 'No sessions here yet.')),
    !closed && rest > 0 && showMore(rest, () => unfold(app, group, open)),
    !closed && open && showFewer(() => fold(app, group)),
  );
}

/**
 * First what the page holds, then what only the server does.
 * @param {App} app
 * @param {Group} group
 * @param {boolean} open
 */
function unfold(app, group, open) {
  const held = group.sessions.length > foldedList(group.sessions, false, []).length;
  app.store.set((now) => ({ unfolded: [...now.unfolded.filter((key) => key !== group.key), group.key] }));
  if (open || !held) void app.list.loadMore(group).catch(app.trouble);
}

/**
 * @param {App} app
 * @param {Group} group
 */
const fold = (app, group) => app.store.set((now) => ({ unfolded: now.unfolded.filter((key) => key !== group.key) }));

/**
 * A row that shows what is not in the list yet.
 * @param {number} n
 * @param {() => void} run
 */
export const showMore = (n, run) => listButton('more', `Show ${n.toLocaleString()} more`, run);

/** @param {() => void} run */
const showFewer = (run) => listButton('fewer', 'Show fewer', run);

/**
 * @param {string} key
 * @param {string} words
 * @param {() => void} run
 */
const listButton = (key, words, run) =>
  h(
    'button',
    { type: 'button', class: 'session-row found-more', 'data-key': key, onclick: run },
    h('span', { class: 'session-row__text' }, h('span', { class: 'session-row__title' }, words)),
  );

/**
 * @param {App} app
 * @param {import('../sessions.js').Place} place
 */
export function startIn(app, { path, device }) {
  app.go({ name: 'start' });
  app.events.emit('startFolder', { path, device });
}

/**
 * @param {App} app
 * @param {HTMLElement} anchor
 * @param {Group} group
 * @param {() => void} again
 */
function groupMenu(app, anchor, group, again) {
  const { project } = group;
  menu(
    anchor,
    [
      { label: 'New session here', icon: 'plus', run: () => startIn(app, group) },
      ...(project
        ? [
            {
              label: 'Rename',
              icon: 'edit',
              run: () => {
                renaming = group.key;
                again();
                begin('.session-group > input');
              },
            },
            /** @type {const} */ ('line'),
            {
              label: 'Remove from the list',
              note: 'Its sessions are kept.',
              icon: 'x',
              run: () => void remove(app, group),
            },
          ]
        : [
            {
              label: 'Keep as a project',
              icon: 'folder',
              run: () => addBack(app, group),
            },
          ]),
    ],
    h('p', { class: 'caption mono' }, group.path),
  );
}

/**
 * @param {App} app
 * @param {Group} group
 */
function addBack(app, group) {
  void app.api.addProject(group.path, group.device || undefined).catch(app.trouble);
}

/**
 * @param {App} app
 * @param {Group} group
 */
async function remove(app, group) {
  try {
    if (group.project) await app.api.removeProject(group.project.id);
  } catch (error) {
    return app.trouble(error);
  }
  const n = group.sessions.length;
  const kept = n ? ` ${n === 1 ? 'Its session is' : `Its ${count(n, 'session')} are`} kept under Other folders.` : '';
  app.note(`${group.name} was removed from the list.${kept}`, {
    action: {
      label: 'Undo',
      run: () => addBack(app, group),
    },
  });
}

/**
 * @param {App} app
 * @param {Group} group
 * @param {() => void} again
 */
function nameField(app, group, again) {
  const done = (/** @type {string} */ value) => {
    if (renaming !== group.key) return;
    renaming = null;
    if (value && value !== group.name && group.project)
      app.api.renameProject(group.project.id, value).catch(app.trouble);
    again();
  };
  return h('input', {
    class: 'input',
    'aria-label': 'Name of the project',
    value: group.name,
    maxlength: 200,
    'data-key': 'name',
    onblur: (/** @type {On<HTMLInputElement>} */ event) => done(event.currentTarget.value.trim()),
    onkeydown: (/** @type {On<HTMLInputElement, KeyboardEvent>} */ event) => {
      if (event.key === 'Enter') done(event.currentTarget.value.trim());
      if (event.key === 'Escape') {
        event.stopPropagation();
        done('');
      }
    },
  });
}
