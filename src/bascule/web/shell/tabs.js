/** Open sessions as tabs: arrows move, dragging reorders, closing goes to the neighbour. */

import { h, iconButton, update } from '../js/dom.js';
import { icon } from '../js/icons.js';
import { dot } from './parts.js';
import { statusOf, titleOf } from './state.js';

/** @typedef {import('./app.js').App} App */
/** @typedef {import('./state.js').State} State */

/** @param {HTMLElement} root @param {App} app */
export function mountTabs(root, app) {
  /** @type {string | null} */
  let dragged = null;

  /** @param {State} state @param {string} id */
  const tab = (state, id) => {
    const session = state.sessions[id];
    const status = session ? statusOf(state, session) : { dot: 'ending', word: '' };
    const chosen = state.route.name === 'session' && state.route.id === id;
    const title = session ? titleOf(session) : 'Session';
    return h('div', {
      class: `tab ${chosen ? 'sel' : ''}`, role: 'presentation', 'data-key': id, draggable: 'true', title,
      ondragstart: () => { dragged = id; }, ondragend: () => { dragged = null; },
      ondragover: (/** @type {DragEvent} */ event) => { if (dragged && dragged !== id) { event.preventDefault(); move(app, dragged, id); } },
      ondrop: (/** @type {DragEvent} */ event) => event.preventDefault(),
      onauxclick: (/** @type {MouseEvent} */ event) => { if (event.button === 1) closeTab(app, id); },
    },
    h('button', { type: 'button', role: 'tab', 'aria-selected': String(chosen), tabindex: chosen ? 0 : -1, onclick: () => app.go({ name: 'session', id }) }, dot(status.dot, status.word), h('span', null, title)),
    // For the mouse; the keyboard has Alt W, and a list of tabs may hold only tabs.
    iconButton('x', `Close ${title}`, { class: 'xs', tabindex: -1, 'aria-hidden': 'true', onclick: () => closeTab(app, id) }));
  };

  /** @param {State} state */
  const draw = (state) => {
    root.hidden = !(state.tabs.length && state.route.name === 'session') && state.side;
    update(root, [
      !state.side && iconButton('side', 'Show the sidebar (Ctrl B)', { onclick: () => app.store.set({ side: true }) }),
      h('div', { class: 'tabl', role: 'tablist', 'aria-label': 'Open sessions', onkeydown: (/** @type {KeyboardEvent} */ event) => arrows(app, event) }, state.tabs.map((id) => tab(state, id))),
      iconButton('plus', 'New session (N)', { onclick: () => app.go({ name: 'start' }) }),
      h('span', { class: 'sp' }),
      iconButton('panel', 'Changes (Ctrl J)', { class: state.panel ? 'on' : '', 'aria-pressed': String(state.panel), onclick: () => app.store.set((now) => ({ panel: !now.panel })) }),
    ]);
  };
  app.store.subscribe(draw);
  draw(app.store.get());
}

/** @param {App} app @param {KeyboardEvent} event */
function arrows(app, event) {
  const move = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!move) return;
  const { tabs, route } = app.store.get();
  const at = tabs.indexOf(route.id ?? '');
  app.go({ name: 'session', id: tabs[(at + move + tabs.length) % tabs.length] });
  /** @type {HTMLElement | null} */ (document.querySelector('[role=tab][aria-selected=true]'))?.focus();
}

/** @param {App} app @param {string} from @param {string} to */
function move(app, from, to) {
  app.store.set(({ tabs }) => {
    const rest = tabs.filter((id) => id !== from);
    const at = tabs.indexOf(to);
    return { tabs: [...rest.slice(0, at), from, ...rest.slice(at)] };
  });
}

/** @param {App} app @param {string} id */
export function closeTab(app, id) {
  const { tabs, route } = app.store.get();
  const at = tabs.indexOf(id);
  if (at < 0) return;
  const rest = tabs.filter((one) => one !== id);
  app.store.set({ tabs: rest });
  if (route.name === 'session' && route.id === id) {
    const neighbour = rest[Math.min(at, rest.length - 1)];
    app.go(neighbour ? { name: 'session', id: neighbour } : { name: 'start' });
  }
  app.wells.forget(id);
  app.live.close(id);
}
