/** The bar above a session: title, where it runs, its state, and what can be done with it as a whole. */

import { h, iconButton, update } from '../js/dom.js';
import { icon } from '../js/icons.js';
import { clockTime, folderName, waited } from '../js/words.js';
import { dot, menu } from './parts.js';
import { agentTitle, deviceName, mayAct, modelName, shownSession, statusOf, titleOf } from './state.js';
import { confirmEnd } from './confirm.js';
import { exportSession } from './exporting.js';

/** @typedef {import('./app.js').App} App */
/** @typedef {import('./state.js').State} State */

/** @param {HTMLElement} root @param {App} app @param {{find: () => void}} open */
export function mountSessionBar(root, app, open) {
  let renaming = '';

  /** @param {State} state */
  const draw = (state) => {
    const id = shownSession(state);
    const session = id ? state.sessions[id] : undefined;
    if (!id || !session) {
      update(root, id ? [backButton(app), h('div', { class: 'who' }, h('h1', null, state.live[id]?.error || ''))] : []);
      return;
    }
    const inbox = state.route.name === 'inbox';
    const status = statusOf(state, session);
    update(root, [
      !inbox && backButton(app),
      h('div', { class: 'who' },
        renaming === id ? renameField(id, titleOf(session)) : h('h1', { title: titleOf(session), onclick: () => { if (mayAct(state, id)) { renaming = id; draw(app.store.get()); root.querySelector('input')?.select(); } } }, titleOf(session)),
        h('p', null, h('span', { title: session.cwd }, icon('folder', 14), folderName(session.cwd)), h('i', null, '·'),
          h('span', null, icon('device', 14), deviceName(state, session)), h('i', null, '·'),
          h('span', null, [agentTitle(state, session.agent), modelName(state, session)].filter((word, n, all) => word && all.indexOf(word) === n).join(', ')))),
      pill(state, status),
      h('span', { class: 'sp' }),
      inbox
        ? h('button', { type: 'button', class: 'btn line', onclick: () => app.go({ name: 'session', id }) }, icon('launch'), h('span', null, 'Open session'), h('kbd', null, 'O'))
        : iconButton('more', 'More', { 'aria-haspopup': 'menu', onclick: (/** @type {any} */ event) => more(event.currentTarget, id) }),
    ]);
  };

  /** @param {State} state @param {{dot: string, word: string}} status */
  const pill = (state, status) => {
    if (state.line.phase === 'lost') return h('span', { class: 'pill' }, dot('ending', 'not connected'), `Last seen ${waited(Date.now() - state.line.heardAt)} ago`);
    return h('span', { class: `pill pill-${status.dot}` }, dot(status.dot, ''), status.word);
  };

  /** @param {string} id @param {string} title */
  const renameField = (id, title) => {
    const done = (/** @type {boolean} */ keep) => {
      const value = /** @type {HTMLInputElement | null} */ (root.querySelector('.who input'))?.value.trim();
      if (renaming !== id) return;
      renaming = '';
      if (keep && value && value !== title) app.api.title(id, { title: value }).catch(app.trouble);
      draw(app.store.get());
    };
    return h('input', {
      value: title, 'aria-label': 'Title', maxlength: 200, 'data-key': 'rename', onblur: () => done(true),
      onkeydown: (/** @type {KeyboardEvent} */ event) => { if (event.key === 'Enter') done(true); if (event.key === 'Escape') { event.stopPropagation(); done(false); } },
    });
  };

  /** @param {HTMLElement} anchor @param {string} id */
  const more = (anchor, id) => {
    const state = app.store.get();
    const session = state.sessions[id];
    const acts = mayAct(state, id);
    const over = session.phase === 'ended' || session.phase === 'failed';
    menu(anchor, [
      { label: 'Find in this conversation', note: 'Ctrl F', icon: 'search', run: open.find },
      { label: 'Export as Markdown', icon: 'export', run: () => void exportSession(app, id, 'md') },
      { label: 'Export as JSON', icon: 'export', run: () => void exportSession(app, id, 'json') },
      ...(acts ? [
        /** @type {const} */ ('line'),
        { label: session.archived ? 'Take out of the archive' : 'Archive', icon: 'inbox', run: () => void app.api.archive(id, { archived: !session.archived }).then(() => app.note(session.archived ? 'It is back in the list.' : 'Archived. Everything is kept.'), app.trouble) },
        over ? { label: 'Resume', icon: 'play', run: () => void app.api.resume(id).catch(app.trouble) }
          : { label: 'End session', icon: 'stop', danger: true, run: () => confirmEnd(app, id) },
      ] : []),
    ], h('p', { class: 'cap' }, `Begun ${clockTime(session.created_at)}${session.created_by ? ` by ${session.created_by}` : ''}`));
  };

  app.store.subscribe(draw);
  draw(app.store.get());
}

/** @param {App} app */
const backButton = (app) => iconButton('back', 'Back to the list', { class: 'back', onclick: () => app.go({ name: 'list' }) });
