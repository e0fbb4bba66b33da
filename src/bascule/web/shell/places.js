/** Where the page is: addresses, and what a browser keeps between visits (tabs, drafts, theme). */

import { table } from '../js/tables.js';

/** @typedef {import('./state.js').Route} Route */
/** @typedef {import('./state.js').State} State */

const KEPT = 'bascule.page';
const SETTINGS_PARTS = ['general', 'agents', 'devices', 'browsers', 'rules', 'limits', 'usage', 'audit'];

/** The screens with an address of their own. The server has a row for each in `hub/routes/pages.py`. */
export const SCREENS = /** @type {const} */ ({ start: '/', inbox: '/inbox', list: '/sessions', search: '/search' });

/** @param {Route} route */
export function placeOf(route) {
  switch (route.name) {
    case 'session':
      return `/sessions/${encodeURIComponent(route.id ?? '')}`;
    case 'settings':
      return `/settings/${route.part ?? 'general'}`;
    case 'compare':
      return route.id ? `/compare/${encodeURIComponent(route.id)}` : '/compare';
    default:
      return SCREENS[route.name];
  }
}

/**
 * @param {string} path
 * @param {any} [kept] what the browser's history keeps of the place
 * @returns {Route}
 */
export function routeOf(path, kept) {
  const [, first, second] = path.split('/');
  if (first === 'sessions' && second) return { name: 'session', id: decodeURIComponent(second) };
  if (first === 'compare') return { name: 'compare', ...(second ? { id: decodeURIComponent(second) } : {}) };
  if (first === 'settings') return { name: 'settings', part: SETTINGS_PARTS.includes(second) ? second : 'general' };
  const names = /** @type {(keyof typeof SCREENS)[]} */ (Object.keys(SCREENS));
  const name = names.find((one) => SCREENS[one] === path) ?? 'start';
  return typeof kept?.q === 'string' ? { name, q: kept.q } : { name };
}

/** @returns {Partial<State>} */
export function restored() {
  /** @type {any} */
  let kept = {};
  try {
    kept = JSON.parse(localStorage.getItem(KEPT) ?? '{}') ?? {};
  } catch {
    kept = {}; // an unreadable note of ours is worth nothing
  }
  const route = routeOf(location.pathname, history.state);
  const tabs = Array.isArray(kept.tabs) ? kept.tabs.filter((/** @type {any} */ one) => typeof one === 'string') : [];
  if (route.name === 'session' && route.id && !tabs.includes(route.id)) tabs.push(route.id);
  return {
    route,
    tabs,
    collapsed: Array.isArray(kept.collapsed) ? kept.collapsed : [],
    side: kept.side !== false,
    panel: kept.panel === true,
    theme: ['dark', 'light'].includes(kept.theme) ? kept.theme : 'auto',
    seen: table(kept.seen && typeof kept.seen === 'object' ? kept.seen : {}),
    held: Array.isArray(kept.held) ? kept.held : [],
  };
}

/**
 * @param {State} now
 * @param {State} before
 */
export function keepInPlace(now, before) {
  const parts = /** @type {const} */ (['tabs', 'side', 'collapsed', 'panel', 'theme', 'seen', 'held']);
  if (parts.every((part) => now[part] === before[part])) return;
  localStorage.setItem(KEPT, JSON.stringify(Object.fromEntries(parts.map((part) => [part, now[part]]))));
}

/** @param {string} id */
export const draftOf = (id) => localStorage.getItem(`bascule.draft.${id}`) ?? '';

/**
 * @param {string} id
 * @param {string} text
 */
export function keepDraft(id, text) {
  if (text) localStorage.setItem(`bascule.draft.${id}`, text);
  else localStorage.removeItem(`bascule.draft.${id}`);
}

/**
 * A secret in the link's fragment, or in the path of a shared session, is taken. Nothing else in the address counts,
 * and none of it stays there.
 * @returns {string | null}
 */
export function takeSecret() {
  const inPath = /^\/s\/([A-Za-z0-9_.~-]+)$/.exec(location.pathname);
  const match = /^#(?:token|k)=([A-Za-z0-9_.~-]+)$/.exec(location.hash) ?? inPath;
  if (inPath || location.hash || location.search)
    history.replaceState(history.state, '', inPath ? '/s' : location.pathname);
  return match ? match[1] : null;
}

/** Everything this browser keeps of ours, the key too. */
export function forgetAll() {
  for (const store of [localStorage, sessionStorage]) {
    for (const name of Object.keys(store)) if (name.startsWith('bascule.')) store.removeItem(name);
  }
}

/** Is this the address of a link to one session? */
export const atShared = () => /^\/s(\/|$)/.test(location.pathname);
