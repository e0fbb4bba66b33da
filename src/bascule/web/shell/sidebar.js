/** The list of sessions: by folder, those that need a person first, devices at the bottom. */

import { h, iconButton, update } from '../js/dom.js';
import { icon } from '../js/icons.js';
import { age, count, folderName } from '../js/words.js';
import { agentLetter, dot, keyCap } from './parts.js';
import { filledRecord, mayStart, openAsks, sessionsInOrder, shownSession, statusOf, titleOf } from './state.js';

/** @typedef {import('./app.js').App} App */
/** @typedef {import('./state.js').State} State */
/** @typedef {import('./state.js').SessionRecord} SessionRecord */

/** @param {HTMLElement} root @param {App} app @param {{palette: () => void}} open */
export function mountSidebar(root, app, open) {
  /** @param {State} state */
  const draw = (state) => update(root, [
    h('div', { class: 'side-top' },
      h('span', { class: 'brand' }, icon('logo', 20), h('b', null, 'Bascule')), h('span', { class: 'sp' }),
      iconButton('side', 'Hide the sidebar (Ctrl B)', { onclick: () => app.store.set({ side: false }) })),
    h('button', { type: 'button', class: 'searchbox', onclick: open.palette }, icon('search'), h('span', null, 'Search or run a command'), keyCap('Ctrl K')),
    h('div', { class: 'navs' },
      mayStart(state) && navRow(app, 'plus', 'New session', 'new', () => app.go({ name: 'start' }), keyCap('N')),
      navRow(app, 'inbox', 'Inbox', state.route.name === 'inbox' ? 'sel' : '', () => app.go({ name: 'inbox' }), badge(openAsks(state).length))),
    h('div', { class: 'groups' }, groups(state, app), archive(state, app)),
    h('div', { class: 'devs' },
      h('p', { class: 'cap' }, 'Devices'),
      state.devices.map((device) => deviceRow(device)),
      h('div', { class: 'side-foot' },
        navRow(app, 'gear', 'Settings', state.route.name === 'settings' ? 'sel' : '', () => app.go({ name: 'settings', part: 'general' })),
        iconButton('sun', 'Change the theme', { onclick: () => app.store.set((now) => ({ theme: nextTheme(now.theme) })) }))),
  ]);
  app.store.subscribe(draw);
  draw(app.store.get());
}

/** @param {string} theme */
const nextTheme = (theme) => {
  const dark = theme === 'dark' || (theme === 'auto' && matchMedia('(prefers-color-scheme: dark)').matches);
  return dark ? 'light' : 'dark';
};

/** @param {number} n */
export const badge = (n) => n > 0 && h('span', { class: 'badge', 'aria-label': `${count(n, 'request')} waiting` }, String(n));

/** @param {App} app @param {string} mark @param {string} label @param {string} kind @param {() => void} run @param {any} [more] */
const navRow = (app, mark, label, kind, run, more) =>
  h('button', { type: 'button', class: `nav ${kind}`, onclick: run, 'aria-current': kind.includes('sel') ? 'page' : null }, icon(mark), h('span', null, label), more);

/** @param {State} state @param {App} app */
function groups(state, app) {
  const all = sessionsInOrder(state);
  if (!all.length) return h('p', { class: 'nothing' }, state.loaded ? 'Sessions will be listed here.' : '');
  /** @type {Map<string, SessionRecord[]>} */
  const byFolder = new Map();
  for (const session of all) byFolder.set(session.cwd, [...(byFolder.get(session.cwd) ?? []), session]);
  return [...byFolder].map(([cwd, sessions]) => {
    const closed = state.collapsed.includes(cwd);
    const toggle = () => app.store.set((now) => ({ collapsed: closed ? now.collapsed.filter((one) => one !== cwd) : [...now.collapsed, cwd] }));
    return h('section', { class: 'grp', 'data-key': cwd },
      h('div', { class: 'gh' },
        h('button', { type: 'button', class: 'gt', title: cwd, 'aria-expanded': String(!closed), onclick: toggle },
          h('span', { class: `car ${closed ? '' : 'down'}` }, icon('right', 12)), icon('folder', 14), h('span', null, folderName(cwd)), h('span', { class: 'n' }, String(sessions.length))),
        mayStart(state) && iconButton('plus', `New session in ${folderName(cwd)}`, { class: 'xs', onclick: () => { sessionStorage.setItem('bascule.cwd', cwd); app.go({ name: 'start' }); dispatchEvent(new Event('bascule:start')); } })),
      !closed && sessions.map((session) => sessionRow(state, app, session)));
  });
}

/** Put away, not gone. @param {State} state @param {App} app */
function archive(state, app) {
  if (!state.loaded || !mayStart(state)) return null;
  const show = () => void app.api.sessions(true).then((all) => app.store.set({ archived: all.map(filledRecord).filter((/** @type {SessionRecord} */ one) => one.archived) }), app.trouble);
  const put = (state.archived ?? []).filter((one) => state.sessions[one.session_id]?.archived ?? true);
  return h('section', { class: 'grp', 'data-key': 'archive' },
    h('div', { class: 'gh' }, h('button', { type: 'button', class: 'gt quietly', 'aria-expanded': String(state.archived !== null), onclick: () => (state.archived ? app.store.set({ archived: null }) : show()) },
      h('span', { class: `car ${state.archived ? 'down' : ''}` }, icon('right', 12)), h('span', null, 'Archived'), state.archived && h('span', { class: 'n' }, String(put.length)))),
    state.archived && (put.length ? put.map((session) => sessionRow(state, app, session)) : h('p', { class: 'nothing' }, 'Nothing is archived.')));
}

/** @param {State} state @param {App} app @param {SessionRecord} session */
function sessionRow(state, app, session) {
  const status = statusOf(state, session);
  const chosen = shownSession(state) === session.session_id && state.route.name === 'session';
  const sub = subLine(state, session, status);
  return h('button', {
    type: 'button', class: `srow ${sub ? 'two' : ''} ${chosen ? 'sel' : ''}`, 'data-key': session.session_id, 'aria-current': chosen ? 'page' : null,
    onclick: () => app.go({ name: 'session', id: session.session_id }),
  }, dot(status.dot, status.word), h('span', { class: 'st' }, h('span', { class: 't' }, titleOf(session)), sub && h('span', { class: 'sub' }, agentLetter(session.agent), sub)),
  h('span', { class: 'age' }, age(session.updated_at || session.created_at, Date.now())));
}

/** A second line only when it says something. @param {State} state @param {SessionRecord} session @param {{dot: string, word: string}} status */
function subLine(state, session, status) {
  const asks = openAsks(state, session.session_id);
  if (status.dot === 'blocked') {
    const n = Math.max(asks.length, session.open_requests);
    const questions = asks.filter((ask) => ask.kind === 'question').reduce((sum, ask) => sum + ask.asked.questions.length, 0);
    return [h('span', { class: 'need' }, status.word), status.word === 'Asks you' ? `· ${count(questions, 'question')}` : `· ${count(n, 'request')}`];
  }
  if (status.dot === 'failed') return [h('span', { class: 'fail' }, 'Failed'), session.end_message ? `· ${session.end_message.split(/[.:]/)[0].toLowerCase()}` : ''];
  if (status.dot === 'running') return [status.word, session.queued ? ` · ${session.queued} queued` : ''];
  if (status.dot === 'starting') return [status.word];
  return null;
}

/** @param {import('./state.js').Device} device */
const deviceRow = (device) => h('div', { class: 'dev', 'data-key': device.device }, icon('device', 14), h('span', null, device.name), h('small', null, device.online ? 'this machine' : 'away'),
  dot(device.online ? 'waiting' : 'failed', device.online ? 'connected' : 'away'));
