/** Open sessions as tabs: arrows move, dragging or the menu reorders, closing goes to the neighbour. */

import { h, iconButton, update } from '../../js/dom.js';
import { agentLetter, dot, keyNote, menu } from '../parts.js';
import { agentTitle, statusOf, titleOf } from '../sessions.js';
import { mayStart } from '../state.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */
/** @typedef {{id: string, end: () => void}} Dragging which tab, if any */

/**
 * @param {HTMLElement} root
 * @param {App} app
 */
export function mountTabs(root, app) {
  const dragging = { id: '', end: () => draw(app.store.get()) };

  /** @param {State} state */
  function draw(state) {
    root.hidden = !(state.tabs.length && state.route.name === 'session') && state.side;
    update(root, [
      !state.side && iconButton('side', 'Show the sidebar (Ctrl B)', { onclick: () => app.store.set({ side: true }) }),
      h(
        'div',
        {
          class: 'tab-list',
          role: 'tablist',
          'aria-label': 'Open sessions',
          onkeydown: (/** @type {KeyboardEvent} */ event) => arrows(app, event),
        },
        state.tabs.map((id) => tabView(app, state, id, dragging)),
      ),
      mayStart(state) && iconButton('plus', 'New session (N)', { onclick: () => app.go({ name: 'start' }) }),
      h('span', { class: 'spacer' }),
      iconButton('panel', 'Changes (Ctrl J)', {
        class: state.panel ? 'is-on' : '',
        'aria-pressed': String(state.panel),
        onclick: () => app.store.set((now) => ({ panel: !now.panel })),
      }),
    ]);
  }

  const showChosen = () =>
    root.querySelector('.session-tab.is-selected')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  app.store.subscribe((now, before) => {
    draw(now);
    if (now.route !== before.route) showChosen();
  });
  // A panel or the sidebar that opens takes room from the right, where the chosen tab may be.
  new ResizeObserver(showChosen).observe(root);
  draw(app.store.get());
}

/**
 * @param {App} app
 * @param {State} state
 * @param {string} id
 * @param {Dragging} dragging
 */
function tabView(app, state, id, dragging) {
  const session = state.sessions[id];
  const status = session ? statusOf(state, session) : { dot: 'ending', word: '' };
  const chosen = state.route.name === 'session' && state.route.id === id;
  const title = session ? titleOf(session) : 'Session';
  const agent = session ? agentTitle(state, session.agent) : '';
  const first = state.tabs[0] === id && !state.tabs.includes(state.route.id ?? '');
  return h(
    'div',
    {
      class: `session-tab ${chosen ? 'is-selected' : ''} ${dragging.id === id ? 'drag' : ''}`,
      role: 'presentation',
      'data-key': id,
      draggable: 'true',
      title: agent ? `${title}\n${agent}, ${status.word.toLowerCase()}` : title,
      ...mouseHandlers(app, id, dragging),
    },
    h(
      'button',
      {
        type: 'button',
        role: 'tab',
        'aria-selected': String(chosen),
        tabindex: chosen || first ? 0 : -1,
        onclick: () => app.go({ name: 'session', id }),
      },
      dot(status.dot, status.word),
      session && agentLetter(session.agent),
      agent && h('span', { class: 'spoken' }, `${agent}:`),
      h('span', { class: 'session-tab__title', dir: 'auto' }, title),
    ),
    // For the mouse; the keyboard has Alt W, and a list of tabs may hold only tabs.
    iconButton('x', `Close ${title}`, {
      class: 'is-small',
      tabindex: -1,
      'aria-hidden': 'true',
      onclick: () => closeTab(app, id),
    }),
  );
}

/**
 * Dragging, the middle button and the menu of a tab.
 * @param {App} app
 * @param {string} id
 * @param {Dragging} dragging
 */
const mouseHandlers = (app, id, dragging) => ({
  ondragstart: (/** @type {DragEvent} */ event) => {
    dragging.id = id;
    event.dataTransfer?.setData('text/plain', '');
  },
  ondragend: () => {
    dragging.id = '';
    dragging.end();
  },
  ondragover: (/** @type {DragEvent} */ event) => {
    if (!dragging.id) return;
    event.preventDefault();
    const at = /** @type {HTMLElement} */ (event.currentTarget).getBoundingClientRect();
    if (dragging.id !== id) move(app, dragging.id, id, event.clientX >= at.left + at.width / 2);
  },
  ondrop: (/** @type {DragEvent} */ event) => event.preventDefault(),
  ondblclick: () => app.events.emit('rename', id),
  onauxclick: (/** @type {MouseEvent} */ event) => {
    if (event.button === 1) closeTab(app, id);
  },
  oncontextmenu: (/** @type {On<HTMLElement, MouseEvent>} */ event) => {
    event.preventDefault();
    tabMenu(app, event.currentTarget, id);
  },
});

/**
 * @param {App} app
 * @param {KeyboardEvent} event
 */
function arrows(app, event) {
  const { tabs, route } = app.store.get();
  const at = tabs.indexOf(route.id ?? '');
  const to = {
    ArrowRight: (at + 1) % tabs.length,
    ArrowLeft: (at - 1 + tabs.length) % tabs.length,
    Home: 0,
    End: tabs.length - 1,
  }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  app.go({ name: 'session', id: tabs[to] });
  /** @type {HTMLElement | null} */ (document.querySelector('[role=tab][aria-selected=true]'))?.focus();
}

/**
 * What dragging and the middle button do, for those who have neither.
 * @param {App} app
 * @param {HTMLElement} anchor
 * @param {string} id
 */
function tabMenu(app, anchor, id) {
  const { tabs } = app.store.get();
  const at = tabs.indexOf(id);
  menu(anchor, [
    ...(at > 0 ? [{ label: 'Move left', icon: 'left', run: () => move(app, id, tabs[at - 1], false) }] : []),
    ...(at < tabs.length - 1
      ? [{ label: 'Move right', icon: 'right', run: () => move(app, id, tabs[at + 1], true) }]
      : []),
    { label: 'Close', key: keyNote('Alt W'), icon: 'x', run: () => closeTab(app, id) },
    ...(tabs.length > 1
      ? [
          {
            label: 'Close the others',
            icon: 'x',
            run: () => tabs.filter((tab) => tab !== id).forEach((tab) => closeTab(app, tab)),
          },
        ]
      : []),
  ]);
}

/**
 * The tabs after one was put before or behind another.
 * @param {string[]} tabs
 * @param {string} from
 * @param {string} to
 * @param {boolean} behind
 */
export function movedTabs(tabs, from, to, behind) {
  const rest = tabs.filter((id) => id !== from);
  const at = rest.indexOf(to) + (behind ? 1 : 0);
  return [...rest.slice(0, at), from, ...rest.slice(at)];
}

/**
 * @param {App} app
 * @param {string} from
 * @param {string} to
 * @param {boolean} behind
 */
function move(app, from, to, behind) {
  const { tabs } = app.store.get();
  const moved = movedTabs(tabs, from, to, behind);
  if (moved.some((id, n) => id !== tabs[n])) app.store.set({ tabs: moved });
}

/**
 * @param {App} app
 * @param {string} id
 */
export function closeTab(app, id) {
  const { tabs, route } = app.store.get();
  const at = tabs.indexOf(id);
  if (at < 0) return;
  const rest = tabs.filter((tab) => tab !== id);
  app.store.set({ tabs: rest });
  if (route.name === 'session' && route.id === id) {
    const neighbour = rest[Math.min(at, rest.length - 1)];
    app.go(neighbour ? { name: 'session', id: neighbour } : { name: 'start' });
  }
  app.frames.forget(id);
  app.live.close(id);
}
