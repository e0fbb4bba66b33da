/** Where the page is: addresses, and what a browser keeps between visits (tabs, drafts, theme). */

/** @typedef {import('./state.js').Route} Route */
/** @typedef {import('./state.js').State} State */

const KEPT = 'bascule.page';
const SETTINGS_PARTS = ['general', 'agents', 'devices', 'browsers', 'limits', 'audit'];

/** @param {Route} route */
export function placeOf(route) {
  switch (route.name) {
    case 'session': return `/sessions/${encodeURIComponent(route.id ?? '')}`;
    case 'settings': return `/settings/${route.part ?? 'general'}`;
    case 'inbox': return '/inbox';
    case 'list': return '/sessions';
    default: return '/';
  }
}

/** @param {string} path @returns {Route} */
export function routeOf(path) {
  const [, first, second] = path.split('/');
  if (first === 'sessions' && second) return { name: 'session', id: decodeURIComponent(second) };
  if (first === 'sessions') return { name: 'list' };
  if (first === 'inbox') return { name: 'inbox' };
  if (first === 'settings') return { name: 'settings', part: SETTINGS_PARTS.includes(second) ? second : 'general' };
  return { name: 'start' };
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
  const route = routeOf(location.pathname);
  const tabs = Array.isArray(kept.tabs) ? kept.tabs.filter((/** @type {any} */ one) => typeof one === 'string') : [];
  if (route.name === 'session' && route.id && !tabs.includes(route.id)) tabs.push(route.id);
  return {
    route, tabs, collapsed: Array.isArray(kept.collapsed) ? kept.collapsed : [], side: kept.side !== false, panel: kept.panel === true,
    theme: ['dark', 'light'].includes(kept.theme) ? kept.theme : 'auto',
    seen: kept.seen && typeof kept.seen === 'object' ? kept.seen : {},
    held: Array.isArray(kept.held) ? kept.held : [],
  };
}

/** @param {State} now @param {State} before */
export function keepInPlace(now, before) {
  const parts = /** @type {const} */ (['tabs', 'side', 'collapsed', 'panel', 'theme', 'seen', 'held']);
  if (parts.every((part) => now[part] === before[part])) return;
  localStorage.setItem(KEPT, JSON.stringify(Object.fromEntries(parts.map((part) => [part, now[part]]))));
}

/** @param {string} id */
export const draftOf = (id) => localStorage.getItem(`bascule.draft.${id}`) ?? '';

/** @param {string} id @param {string} text */
export function keepDraft(id, text) {
  if (text) localStorage.setItem(`bascule.draft.${id}`, text);
  else localStorage.removeItem(`bascule.draft.${id}`);
}

/** A secret in the link's fragment is taken, and the address bar no longer shows it. @returns {string | null} */
export function takeSecret() {
  const match = /^#(?:token|k)=([A-Za-z0-9_.~-]+)$/.exec(location.hash);
  if (!match) return null;
  history.replaceState(null, '', location.pathname);
  return match[1];
}
