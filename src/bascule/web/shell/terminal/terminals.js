/** Where terminals are shown: alone in a session's place, or beside a chat; and the ways to open one. */

import { h } from '../../js/dom.js';
import { newKey } from '../../js/api.js';
import { icon } from '../../js/icons.js';
import { onDevice } from '../machines.js';
import { isGuest, mayStart, shownSession } from '../state.js';
import { TerminalPane } from './pane.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */

const WIDTH = 'bascule.terminal.width';
const PHONE = '(max-width: 720px)';

/**
 * @param {State} state
 * @param {string | null} id
 */
export const isTerminal = (state, id) => (id ? state.sessions[id]?.driver === 'terminal' : false);

/**
 * The terminal that is shown beside a chat.
 * @param {State} state
 */
export function besideShown(state) {
  const shown = shownSession(state);
  const isBesideChat = state.route.name === 'session' && shown && !isTerminal(state, shown);
  return isBesideChat && isTerminal(state, state.beside) ? state.beside : null;
}

/** @param {App} app */
export function mountTerminals(app) {
  const session = /** @type {HTMLElement} */ (document.getElementById('session'));
  const stage = /** @type {HTMLElement} */ (document.getElementById('stage'));
  const alone = h('div', { id: 'terminal', class: 'terminal-alone', hidden: true });
  document.getElementById('well')?.after(alone);
  const beside = h('section', { id: 'beside', class: 'beside', 'aria-label': 'Terminal', hidden: true });
  const grip = gripBetween(stage);
  stage.append(grip, beside);
  /** @type {TerminalPane | null} */
  let main = null;
  /** @type {TerminalPane | null} */
  let side = null;
  let asked = false;

  /** @param {State} state */
  function arrange(state) {
    const shown = shownSession(state);
    const mine = isTerminal(state, shown) ? shown : null;
    session.classList.toggle('isterminal', Boolean(mine));
    alone.hidden = !mine;
    const closed = Boolean(mine) && isGuest(state);
    main = pane(main, alone, closed ? null : mine, false);
    if (closed && !alone.childElementCount) alone.append(noScreen(state));
    const other = besideShown(state);
    beside.hidden = grip.hidden = !other;
    stage.toggleAttribute('data-split', Boolean(other));
    side = pane(side, beside, other, true);
    if (state.loaded && !asked && state.line.phase === 'live') {
      asked = true;
      if (mayStart(state))
        app.api
          .desktop()
          .then((desktop) => app.store.set({ desktop }))
          .catch(() => app.store.set({ desktop: null })); // no answer, no desktop to offer
    }
  }

  /**
   * @param {TerminalPane | null} now
   * @param {HTMLElement} place
   * @param {string | null} id
   * @param {boolean} isBeside
   */
  function pane(now, place, id, isBeside) {
    if (now?.id === id) return now;
    now?.close();
    if (!id) return null;
    return new TerminalPane(
      place,
      app,
      id,
      isBeside
        ? {
            beside: true,
            close: () => app.store.set({ beside: null }),
            move: () => {
              app.store.set({ beside: null });
              app.go({ name: 'session', id });
            },
          }
        : { beside: false, close: () => undefined, move: () => putBeside(app, id) },
    );
  }

  app.store.subscribe(arrange);
  arrange(app.store.get());
  return {
    find: () => {
      main?.openFind();
      return main !== null;
    },
  };
}

/**
 * What a guest sees in a terminal's place: their link shows no screens.
 * @param {State} state
 */
const noScreen = (state) =>
  h(
    'div',
    { class: 'center' },
    h(
      'div',
      { class: 'empty-state' },
      icon('terminal', 28),
      h('h2', null, 'This session is a terminal.'),
      h(
        'p',
        null,
        'A shared link does not show a terminal’s screen. ' +
          `Ask ${state.me?.madeBy || 'whoever sent it'} for access of your own.`,
      ),
    ),
  );

/**
 * @param {App} app
 * @param {string} id
 */
function putBeside(app, id) {
  const state = app.store.get();
  const chat = [...state.tabs].reverse().find((tab) => state.sessions[tab] && !isTerminal(state, tab));
  if (!chat) {
    app.note('Open a chat first, then show the terminal beside it.');
    return;
  }
  app.store.set({ beside: id });
  app.go({ name: 'session', id: chat });
}

/**
 * A handle that moves the border between a chat and its terminal.
 * @param {HTMLElement} stage
 */
function gripBetween(stage) {
  const set = (/** @type {number} */ share) => {
    const kept = Math.min(75, Math.max(25, share));
    stage.style.setProperty('--chat-share', `${kept}fr`);
    stage.style.setProperty('--terminal-share', `${100 - kept}fr`);
    grip.setAttribute('aria-valuenow', String(Math.round(kept)));
    return kept;
  };
  let share = Number(localStorage.getItem(WIDTH)) || 50;
  const move = (/** @type {number} */ wanted) => {
    share = set(wanted);
    localStorage.setItem(WIDTH, String(share));
  };
  const grip = h('div', {
    class: 'grip',
    role: 'separator',
    tabindex: 0,
    'aria-orientation': 'vertical',
    'aria-label': 'Width of the chat',
    'aria-valuemin': 25,
    'aria-valuemax': 75,
    hidden: true,
    onpointerdown: (/** @type {PointerEvent} */ event) => grip.setPointerCapture(event.pointerId),
    onkeydown: (/** @type {KeyboardEvent} */ event) => {
      if (event.key === 'ArrowLeft') move(share - 2);
      if (event.key === 'ArrowRight') move(share + 2);
    },
  });
  grip.onpointermove = (/** @type {PointerEvent} */ event) => {
    if (!grip.hasPointerCapture(event.pointerId)) return;
    const box = stage.getBoundingClientRect();
    move(((event.clientX - box.left) / box.width) * 100);
  };
  share = set(share);
  return grip;
}

/** About the size the terminal will have; it is fitted once it is shown. */
function likelySize() {
  const stage = document.getElementById('stage')?.getBoundingClientRect();
  return {
    cols: Math.max(40, Math.floor(((stage?.width ?? 800) - 48) / 8)),
    rows: Math.max(10, Math.floor(((stage?.height ?? 600) - 130) / 17)),
  };
}

/**
 * @param {App} app
 * @param {{
 *   agent: string,
 *   cwd: string | null,
 *   device?: string,
 *   resume?: string,
 *   title?: string,
 *   skipPermissions?: boolean,
 * }} command
 * @param {{beside?: boolean}} [way]
 */
export async function openTerminal(app, command, way = {}) {
  try {
    const made = await app.api.create({ ...command, driver: 'terminal', ...likelySize(), key: newKey() });
    await app.live.ensured(made.sessionId);
    if (way.beside) app.store.set({ beside: made.sessionId });
    else app.go({ name: 'session', id: made.sessionId });
    return /** @type {string} */ (made.sessionId);
  } catch (error) {
    app.trouble(error);
    return null;
  }
}

/**
 * A shell in a session's folder, beside it where there is room.
 * @param {App} app
 * @param {{session_id: string, cwd: string, device?: string}} session
 */
export const openHere = (app, session) =>
  openTerminal(
    app,
    { agent: 'shell', cwd: session.cwd, ...onDevice(app.store.get(), session.device) },
    { beside: !isTerminal(app.store.get(), session.session_id) && !matchMedia(PHONE).matches },
  );
