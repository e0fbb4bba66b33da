/** Two questions Bascule itself asks, in place above the composer: stop this turn, end this session. */

import { h, update } from '../../js/dom.js';
import { deviceName, isRemoved, unreachable } from '../machines.js';
import { shownSession } from '../state.js';

/** @typedef {import('../app.js').App} App */

/**
 * @param {HTMLElement} root
 * @param {App} app
 */
export function mountConfirm(root, app) {
  /** @param {import('../state.js').State} state */
  const draw = (state) => {
    const asked = state.confirm;
    const shown = asked && asked.sessionId === shownSession(state);
    update(
      root,
      shown
        ? [
            h(
              'div',
              {
                class: 'confirm',
                role: 'alertdialog',
                'aria-label': asked.title,
                'data-key': asked.title,
                onkeydown: (/** @type {KeyboardEvent} */ event) => {
                  if (event.key === 'Escape') {
                    event.stopPropagation();
                    close();
                  }
                },
              },
              h('span', null, h('b', null, asked.title), asked.text),
              h('button', { type: 'button', class: 'button quiet', onclick: () => close() }, asked.no),
              h(
                'button',
                {
                  type: 'button',
                  class: 'button danger',
                  onclick: () => {
                    close();
                    asked.run();
                  },
                },
                asked.yes,
              ),
            ),
          ]
        : [],
    );
    if (shown && !root.contains(document.activeElement)) root.querySelector('button')?.focus();
  };
  const close = () => {
    app.store.set({ confirm: null });
    document.getElementById('message')?.focus();
  };
  app.store.subscribe(draw);
}

/**
 * What can't be done is not asked about: its machine is away.
 * @param {App} app
 * @param {string} sessionId
 * @param {string} what
 */
function isOutOfReach(app, sessionId, what) {
  const state = app.store.get();
  const session = state.sessions[sessionId];
  if (!session || !unreachable(state, session)) return false;
  const name = deviceName(state, session);
  app.note(`It can’t be ${what} now: it runs on ${name}, which can’t be reached right now. Try again when it is back.`);
  return true;
}

/**
 * @param {App} app
 * @param {string} sessionId
 */
export function confirmInterrupt(app, sessionId) {
  if (isOutOfReach(app, sessionId, 'stopped')) return;
  app.store.set({
    confirm: {
      sessionId,
      title: 'Stop this turn?',
      text: 'What it wrote so far is kept.',
      yes: 'Stop turn',
      no: 'Keep going',
      run: () => void app.api.interrupt(sessionId).catch(app.trouble),
    },
  });
}

/**
 * @param {App} app
 * @param {string} sessionId
 */
export function confirmEnd(app, sessionId) {
  const state = app.store.get();
  const session = state.sessions[sessionId];
  const away = session && !isRemoved(state, session) && unreachable(state, session);
  if (!away && isOutOfReach(app, sessionId, 'ended')) return;
  const name = session ? deviceName(state, session) : '';
  app.store.set({
    confirm: {
      sessionId,
      title: 'End this session?',
      text: away
        ? `${name} is away. It ends this session first thing when it is back; until then the agent keeps running.`
        : 'The agent is stopped; the transcript is kept.',
      yes: 'End session',
      no: 'Cancel',
      run: () =>
        void app.api.end(sessionId).then(({ waits, message }) => waits && app.note(message ?? ''), app.trouble),
    },
  });
}
