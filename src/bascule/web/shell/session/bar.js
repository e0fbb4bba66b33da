/** The bar above a session: title, where it runs, its state, and what can be done with it as a whole. */

import { h, iconButton, update } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { clockTime, folderName, waited } from '../../js/format.js';
import { dot, menu } from '../parts.js';
import {
  agentTitle,
  deviceName,
  isGuest,
  isOver,
  mayAct,
  modelName,
  pullNumber,
  shownSession,
  statusOf,
  titleOf,
} from '../state.js';
import { confirmEnd } from './confirm.js';
import { FORMATS, exportSession } from './exporting.js';
import { shareSession } from './sharing.js';
import { otherWay, terminalChoices } from '../terminal/chat_or_screen.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */

/**
 * @param {HTMLElement} root
 * @param {App} app
 * @param {{find: () => void}} open
 */
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
    update(
      root,
      [
        !inbox && (isGuest(state) ? icon('logo', 20) : backButton(app)),
        h(
          'div',
          { class: 'who' },
          renaming === id
            ? renameField(id, session.title || titleOf(session))
            : h(
                inbox ? 'h2' : 'h1',
                {
                  title: titleOf(session),
                  onclick: () => {
                    if (mayAct(state, id)) {
                      renaming = id;
                      draw(app.store.get());
                      root.querySelector('input')?.select();
                    }
                  },
                },
                titleOf(session),
              ),
          h(
            'p',
            null,
            h('span', { title: session.cwd }, icon('folder', 14), folderName(session.cwd)),
            h('i', null, '·'),
            // Who was sent a link to one session is told nothing about machines.
            state.devices.length > 0 && [
              h('span', null, icon('device', 14), deviceName(state, session)),
              h('i', null, '·'),
            ],
            h(
              'span',
              null,
              [agentTitle(state, session.agent), modelName(state, session)]
                .filter((word, n, all) => word && all.indexOf(word) === n)
                .join(', '),
            ),
            session.pull_request && [
              h('i', null, '·'),
              h(
                'span',
                { title: session.pull_request, 'aria-label': `pull request ${pullNumber(session.pull_request)}` },
                icon('branch', 14),
                pullNumber(session.pull_request),
              ),
            ],
          ),
        ),
        pill(
          state,
          status.dot === 'blocked' && !mayAct(state, id) ? { dot: 'blocked', word: 'Needs an answer' } : status,
        ),
        h('span', { class: 'sp' }),
        !inbox && otherWay(app, state, session),
        inbox
          ? h(
              'button',
              { type: 'button', class: 'btn line', onclick: () => app.go({ name: 'session', id }) },
              icon('launch'),
              h('span', null, 'Open session'),
              h('kbd', null, 'O'),
            )
          : [
              watchers(state, id),
              state.me?.role === 'owner' &&
                iconButton('share', 'Share', {
                  class: 'sharing',
                  'data-key': 'share',
                  'aria-haspopup': 'dialog',
                  onclick: (/** @type {any} */ event) => shareSession(app, event.currentTarget, id),
                }),
              isGuest(state)
                ? h(
                    'button',
                    {
                      type: 'button',
                      class: 'btn line',
                      'data-key': 'export',
                      'aria-label': 'Export',
                      'aria-haspopup': 'menu',
                      onclick: (/** @type {any} */ event) => menu(event.currentTarget, exports(id)),
                    },
                    icon('export'),
                    h('span', null, 'Export'),
                  )
                : iconButton('more', 'More', {
                    'data-key': 'more',
                    'aria-haspopup': 'menu',
                    onclick: (/** @type {any} */ event) => more(event.currentTarget, id),
                  }),
            ],
      ].flat(),
    );
  };

  /**
   * @param {State} state
   * @param {{dot: string, word: string}} status
   */
  const pill = (state, status) => {
    if (state.line.phase === 'lost')
      return h(
        'span',
        { class: 'pill' },
        dot('ending', 'not connected'),
        h('span', { class: 'lastseen' }, 'Last seen '),
        `${waited(Date.now() - state.line.heardAt)} ago`,
      );
    return h('span', { class: `pill pill-${status.dot}` }, dot(status.dot, ''), status.word);
  };

  /**
   * Who else has this session open.
   * @param {State} state
   * @param {string} id
   */
  const watchers = (state, id) => {
    const names = state.company[id]?.viewers ?? [];
    if (names.length < 2) return null;
    const others = names.filter((name) => name !== state.me?.name);
    const words = `${others.join(', ')} ${others.length === 1 ? 'is' : 'are'} here, too`;
    return h(
      'span',
      { class: 'watch', role: 'img', 'aria-label': words, title: words, 'data-key': 'watch' },
      others
        .slice(0, 3)
        .map((name, n) => h('span', { class: `av ${['', 'b', 'c'][n % 3]}` }, (name[0] ?? '?').toUpperCase())),
      others.length > 3 && h('span', { class: 'av c' }, `+${others.length - 3}`),
      isGuest(state) && h('span', { class: 'av c' }, 'You'),
    );
  };

  /** @param {string} id */
  const exports = (id) =>
    FORMATS.map(([format, label, note]) => ({
      label,
      note,
      icon: 'export',
      run: () => void exportSession(app, id, format),
    }));

  /**
   * @param {string} id
   * @param {string} title
   */
  const renameField = (id, title) => {
    const done = (/** @type {boolean} */ keep) => {
      const value = /** @type {HTMLInputElement | null} */ (root.querySelector('.who input'))?.value.trim();
      if (renaming !== id) return;
      renaming = '';
      if (keep && value && value !== title) app.api.title(id, { title: value }).catch(app.trouble);
      draw(app.store.get());
    };
    return h('input', {
      value: title,
      'aria-label': 'Title',
      maxlength: 200,
      'data-key': 'rename',
      onblur: () => done(true),
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        if (event.key === 'Enter') done(true);
        if (event.key === 'Escape') {
          event.stopPropagation();
          done(false);
        }
      },
    });
  };

  /**
   * @param {HTMLElement} anchor
   * @param {string} id
   */
  const more = (anchor, id) => {
    const state = app.store.get();
    const session = state.sessions[id];
    const acts = mayAct(state, id);
    const over = isOver(session);
    menu(
      anchor,
      [
        // A phone's bar has no room for the button.
        ...(state.me?.role === 'owner' && matchMedia('(max-width: 720px)').matches
          ? [{ label: 'Share', icon: 'share', run: () => shareSession(app, anchor, id) }]
          : []),
        ...terminalChoices(app, state, session),
        { label: 'Find in this conversation', note: 'Ctrl F', icon: 'search', run: open.find },
        /** @type {const} */ ('line'),
        ...exports(id),
        ...(acts
          ? [
              /** @type {const} */ ('line'),
              {
                label: session.archived ? 'Take out of the archive' : 'Archive',
                icon: 'inbox',
                run: () =>
                  void app.api
                    .archive(id, { archived: !session.archived })
                    .then(
                      () => app.note(session.archived ? 'It is back in the list.' : 'Archived. Everything is kept.'),
                      app.trouble,
                    ),
              },
              over
                ? { label: 'Resume', icon: 'play', run: () => void app.api.resume(id).catch(app.trouble) }
                : { label: 'End session', icon: 'stop', danger: true, run: () => confirmEnd(app, id) },
            ]
          : []),
      ],
      h(
        'p',
        { class: 'cap' },
        `Begun ${clockTime(session.created_at)}${session.created_by ? ` by ${session.created_by}` : ''}`,
      ),
    );
  };

  app.store.subscribe(draw);
  draw(app.store.get());
}

/** @param {App} app */
const backButton = (app) =>
  iconButton('back', 'Back to the list', { class: 'back', onclick: () => app.go({ name: 'list' }) });
