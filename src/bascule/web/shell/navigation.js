/** Going from screen to screen: the route in the store, the browser's history, and the session that is opened by it. */

import { closeMenus } from './parts.js';
import { placeOf } from './routes.js';
import { restored } from './storage.js';

/** @typedef {import('../js/store.js').Store<import('./state.js').State>} Store */
/** @typedef {import('./state.js').Route} Route */

/**
 * @param {Store} store
 * @param {import('./live.js').Live} live
 * @param {import('./frames/frames.js').Frames} frames
 */
export function createNavigation(store, live, frames) {
  /**
   * @param {Route} route
   * @param {{quiet?: boolean, replace?: boolean}} [options]
   */
  function go(route, options = {}) {
    closeMenus();
    const { tabs } = store.get();
    const patch = /** @type {Partial<import('./state.js').State>} */ ({ route, confirm: null });
    if (route.name === 'session' && route.id && !tabs.includes(route.id)) patch.tabs = [...tabs, route.id];
    store.set(patch);
    if (options.replace) history.replaceState({ q: route.q }, '', placeOf(route));
    else if (!options.quiet && placeOf(route) !== location.pathname)
      history.pushState({ q: route.q }, '', placeOf(route));
    if (route.name === 'session' && route.id) {
      if (store.get().sessions[route.id]?.driver !== 'terminal') frames.ensure(route.id);
      live.ensure(route.id);
    }
    store.flush();
  }

  /**
   * A session, at one message of it.
   * @param {string} id
   * @param {number} seq the message's first number
   */
  function goTo(id, seq) {
    go({ name: 'session', id });
    if (seq > 0) void live.goTo(id, seq);
  }

  const routeOfHere = () => restored().route ?? { name: /** @type {const} */ ('start') };
  addEventListener('popstate', () => go(routeOfHere(), { quiet: true }));
  return { go, goTo };
}
