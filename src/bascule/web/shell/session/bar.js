/** The bar above a session: title, where it runs, its state, and what can be done with it as a whole. */

import { h, iconButton, update } from '../../js/dom.js';
import { folderName, waited } from '../../js/format.js';
import { icon } from '../../js/icons.js';
import { LEVELS, levelName } from '../capability.js';
import { dot, menu, remoteMark } from '../parts.js';
import { conditionOf, deviceName, deviceOf, isRemote } from '../machines.js';
import { agentTitle, isOver, modelName, ownNames, pullNumber, statusOf, titleOf } from '../sessions.js';
import { isGuest, mayAct, mayStart, shownSession } from '../state.js';
import { otherWay } from '../terminal/chat_or_screen.js';
import { exportChoices, openSessionMenu } from './bar_menu.js';
import { shareSession } from './sharing.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('../state.js').SessionRecord} SessionRecord */

/**
 * @param {HTMLElement} root
 * @param {App} app
 * @param {{find: () => void}} open
 */
export function mountSessionBar(root, app, open) {
  let renaming = '';
  const again = () => draw(app.store.get());

  /** @param {State} state */
  function draw(state) {
    const id = shownSession(state);
    const session = id ? state.sessions[id] : undefined;
    const problem = (id && !session && state.live[id]?.error) || '';
    root.parentElement?.classList.toggle('is-lost', Boolean(problem));
    if (session) update(root, sessionBar(app, state, session, title(state, session), open.find));
    else update(root, id ? [backButton(app), lost(app, state, problem)] : []);
  }

  /**
   * @param {State} state
   * @param {SessionRecord} session
   */
  function title(state, session) {
    const id = session.session_id;
    if (renaming === id) return renameField(session.title || titleOf(session), (text) => renamed(id, text));
    const onclick = () => begin(id);
    return h(
      state.route.name === 'inbox' ? 'h2' : 'h1',
      { title: titleOf(session), dir: 'auto', onclick },
      titleOf(session),
    );
  }

  /** @param {string} id */
  function begin(id) {
    if (!mayAct(app.store.get(), id)) return;
    renaming = id;
    again();
    const field = root.querySelector('input');
    field?.focus();
    field?.select();
  }

  /**
   * @param {string} id
   * @param {string | null} text null leaves it as it is
   */
  function renamed(id, text) {
    if (renaming !== id) return;
    renaming = '';
    if (text) app.api.title(id, { title: text }).catch(app.trouble);
    again();
    if (document.activeElement === document.body) app.events.emit('write', null);
  }

  app.events.on('rename', begin);
  app.store.subscribe(draw);
  draw(app.store.get());
}

/**
 * @param {string} title
 * @param {(text: string | null) => void} done with the new title, if there is one
 */
function renameField(title, done) {
  const keep = (/** @type {On<HTMLInputElement>} */ event) => {
    const text = event.currentTarget.value.trim();
    done(text === title ? null : text);
  };
  return h('input', {
    value: title,
    'aria-label': 'Title',
    maxlength: 200,
    'data-key': 'rename',
    onblur: keep,
    onkeydown: (/** @type {On<HTMLInputElement, KeyboardEvent>} */ event) => {
      if (event.key === 'Enter') keep(event);
      if (event.key === 'Escape') {
        event.stopPropagation();
        done(null);
      }
    },
  });
}

/**
 * In the place of a session that can't be opened.
 * @param {App} app
 * @param {State} state
 * @param {string} problem empty while it is being opened
 */
const lost = (app, state, problem) =>
  problem &&
  h(
    'div',
    { class: 'empty-state', 'data-key': 'lost' },
    icon('search', 20),
    h('h1', null, problem),
    h('p', null, 'Its address may be incomplete, or it may be on another server.'),
    mayStart(state) &&
      h('button', { type: 'button', class: 'button line', onclick: () => app.go({ name: 'start' }) }, 'New session'),
  );

/** @param {App} app */
const backButton = (app) =>
  iconButton('back', 'Back to the list', { class: 'back', onclick: () => app.go({ name: 'list' }) });

/**
 * @param {App} app
 * @param {State} state
 * @param {SessionRecord} session
 * @param {Node} title
 * @param {() => void} find
 */
function sessionBar(app, state, session, title, find) {
  const id = session.session_id;
  const inbox = state.route.name === 'inbox';
  return [
    !inbox && (isGuest(state) ? icon('logo', 20) : backButton(app)),
    h('div', { class: 'session-bar__name' }, title, factsLine(state, session)),
    pill(state, session),
    h('span', { class: 'spacer' }),
    !inbox && otherWay(app, state, session),
    ...(inbox ? [openButton(app, id)] : [watchers(state, id), ...barButtons(app, state, id, find)]),
  ].flat();
}

/**
 * @param {State} state
 * @param {SessionRecord} session
 */
function factsLine(state, session) {
  const between = () => h('i', null, '·');
  const names = [agentTitle(state, session.agent), modelName(state, session)];
  const pull = session.pull_request;
  return h(
    'p',
    null,
    h('span', { title: session.cwd }, icon('folder', 14), folderName(session.cwd)),
    between(),
    // Who was sent a link to one session learns nothing about machines.
    state.devices.length > 0 && [
      h('span', null, icon('device', 14), deviceName(state, session)),
      isRemote(state, session) && remoteMark(state, session),
      between(),
    ],
    levelFact(session),
    h('span', null, names.filter((word, n) => word && names.indexOf(word) === n).join(', ')),
    pull && [
      between(),
      h(
        'span',
        { title: pull, 'aria-label': `pull request ${pullNumber(pull)}` },
        icon('branch', 14),
        pullNumber(pull),
      ),
    ],
  );
}

/**
 * How much of the machine it may reach, unless that is all of it.
 * @param {SessionRecord} session
 */
const levelFact = ({ capability }) =>
  capability &&
  capability !== 'full' && [
    h('span', { title: LEVELS[capability]?.note ?? '' }, icon('lock', 14), levelName(capability)),
    h('i', null, '·'),
  ];

/**
 * @param {State} state
 * @param {SessionRecord} session
 */
function pill(state, session) {
  if (state.line.phase === 'lost')
    return h(
      'span',
      { class: 'pill' },
      dot('ending', 'not connected'),
      h('span', { class: 'lastseen' }, 'Last seen '),
      `${waited(Date.now() - state.line.heardAt)} ago`,
    );
  const device = deviceOf(state, session);
  if (device && !device.online && !isOver(session))
    return h(
      'span',
      { class: 'pill' },
      dot('ending', 'not connected'),
      conditionOf(state, device, Date.now()).word.replace(/^a/, 'A'),
    );
  const status = statusOf(state, session);
  const word = status.dot === 'blocked' && !mayAct(state, session.session_id) ? 'Needs an answer' : status.word;
  return h('span', { class: `pill pill-${status.dot}` }, dot(status.dot, ''), word);
}

/**
 * Who else has this session open.
 * @param {State} state
 * @param {string} id
 */
function watchers(state, id) {
  const names = state.presence[id]?.viewers ?? [];
  if (names.length < 2) return null;
  const others = names.filter((name) => !ownNames(state).includes(name));
  const words = `${others.join(', ')} ${others.length === 1 ? 'is' : 'are'} here, too`;
  return h(
    'span',
    { class: 'watch', role: 'img', 'aria-label': words, title: words, 'data-key': 'watch' },
    others
      .slice(0, 3)
      .map((name, n) =>
        h(
          'span',
          { class: `viewer-mark ${['', 'viewer-mark--second', 'viewer-mark--third'][n % 3]}` },
          (name[0] ?? '?').toUpperCase(),
        ),
      ),
    others.length > 3 && h('span', { class: 'viewer-mark viewer-mark--third' }, `+${others.length - 3}`),
    isGuest(state) && h('span', { class: 'viewer-mark viewer-mark--third' }, 'You'),
  );
}

/**
 * @param {App} app
 * @param {string} id
 */
const openButton = (app, id) =>
  h(
    'button',
    { type: 'button', class: 'button line', onclick: () => app.go({ name: 'session', id }) },
    icon('launch'),
    h('span', null, 'Open session'),
    h('kbd', null, 'O'),
  );

/**
 * @param {App} app
 * @param {State} state
 * @param {string} id
 * @param {() => void} find
 */
const barButtons = (app, state, id, find) => [
  state.me?.role === 'owner' &&
    iconButton('share', 'Share', {
      class: 'sharing',
      'data-key': 'share',
      'aria-haspopup': 'dialog',
      onclick: (/** @type {On} */ event) => shareSession(app, event.currentTarget, id),
    }),
  isGuest(state)
    ? h(
        'button',
        {
          type: 'button',
          class: 'button line',
          'data-key': 'export',
          'aria-label': 'Export',
          'aria-haspopup': 'menu',
          onclick: (/** @type {On} */ event) => menu(event.currentTarget, exportChoices(app, id)),
        },
        icon('export'),
        h('span', null, 'Export'),
      )
    : iconButton('more', 'More', {
        'data-key': 'more',
        'aria-haspopup': 'menu',
        onclick: (/** @type {On} */ event) => openSessionMenu(app, event.currentTarget, id, find),
      }),
];
