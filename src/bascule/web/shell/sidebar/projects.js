/** The sidebar's groups: projects people added, other folders that sessions ran in, and what can be done with each. */

import { h, iconButton } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { count } from '../../js/format.js';
import { begin, menu } from '../parts.js';
import { sessionRow } from './rows.js';
import { firstDevice, groupsOf } from '../sessions.js';
import { mayStart } from '../state.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */
/** @typedef {ReturnType<typeof groupsOf>[number]} Group */

/** Which project's name is being typed right now. @type {string | null} */
let renaming = null;

/**
 * @param {State} state
 * @param {App} app
 * @param {() => void} again
 */
export function projectGroups(state, app, again) {
  const groups = groupsOf(state);
  if (!groups.length)
    return [state.loaded && h('p', { class: 'nothing' }, 'Projects and their sessions will be listed here.')];
  const firstOther = groups.findIndex((one) => !one.project);
  return groups.flatMap((group, n) => [
    n === firstOther && n > 0 && h('p', { class: 'caption', 'data-key': 'others' }, 'Other folders'),
    section(state, app, group, again),
  ]);
}

/**
 * @param {State} state
 * @param {App} app
 * @param {Group} group
 * @param {() => void} again
 */
function section(state, app, group, again) {
  const closed = state.collapsed.includes(group.key);
  const toggle = () =>
    app.store.set((now) => ({
      collapsed: closed ? now.collapsed.filter((one) => one !== group.key) : [...now.collapsed, group.key],
    }));
  return h(
    'section',
    {
      class: 'session-group',
      'data-key': `${group.project ? 'project' : 'folder'} ${group.key}`,
      'aria-label': group.name,
    },
    renaming === group.key && group.project
      ? nameField(app, group, again)
      : h(
          'div',
          {
            class: 'session-group__head',
            oncontextmenu: (/** @type {any} */ event) => {
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
              title: group.path,
              'aria-expanded': String(!closed),
              onclick: toggle,
            },
            h('span', { class: `disclosure ${closed ? '' : 'down'}` }, icon('right', 12)),
            icon('folder', 14),
            h('span', { class: 'session-group__name' }, group.name),
            h('span', { class: 'count' }, String(group.sessions.length)),
          ),
          mayStart(state) &&
            iconButton('more', `More for ${group.name}`, {
              class: 'is-small',
              'aria-haspopup': 'menu',
              onclick: (/** @type {any} */ event) => groupMenu(app, event.currentTarget, group, again),
            }),
          mayStart(state) &&
            iconButton('plus', `New session in ${group.name}`, {
              class: 'is-small',
              onclick: () => startIn(app, group.path),
            }),
        ),
    !closed &&
      (group.sessions.length
        ? group.sessions.map((session) => sessionRow(state, app, session, again))
        : h('p', { class: 'nothing' }, 'No sessions here yet.')),
  );
}

/**
 * @param {App} app
 * @param {string} path
 */
export function startIn(app, path) {
  app.go({ name: 'start' });
  app.events.emit('startFolder', path);
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
      { label: 'New session here', icon: 'plus', run: () => startIn(app, group.path) },
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
  void app.api.addProject(group.path, firstDevice(app.store.get())).catch(app.trouble);
}

/**
 * @param {App} app
 * @param {Group} group
 */
async function remove(app, group) {
  try {
    await app.api.removeProject(/** @type {any} */ (group.project).id);
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
    onblur: (/** @type {any} */ event) => done(event.currentTarget.value.trim()),
    onkeydown: (/** @type {any} */ event) => {
      if (event.key === 'Enter') done(event.currentTarget.value.trim());
      if (event.key === 'Escape') {
        event.stopPropagation();
        done('');
      }
    },
  });
}
