/** What a browser stores of the page between visits: its key, tabs, pins, drafts, choices and messages not sent yet. */

import { fieldsOf } from '../js/json.js';
import { table } from '../js/tables.js';
import { routeOf } from './routes.js';

/** @typedef {import('./state.js').State} State */

const KEPT = 'bascule.page';
const KEY = 'bascule.key';
const DRAFT = 'bascule.draft.';
const PARTS = /** @type {const} */ ([
  'tabs',
  'side',
  'collapsed',
  'pins',
  'notify',
  'muted',
  'panel',
  'theme',
  'seen',
  'held',
  'edits',
  'restoredSeen',
]);

/** The secret this browser holds. It came in the link's fragment, and stays out of the address bar. */
export const secret = {
  get: () => sessionStorage.getItem(KEY) ?? localStorage.getItem(KEY),
  /**
   * A link to one session opens it in this tab alone: who has a key of their own keeps it.
   * @param {string} value
   * @param {boolean} [shared]
   */
  set: (value, shared = false) => {
    if (!shared) sessionStorage.removeItem(KEY);
    (shared ? sessionStorage : localStorage).setItem(KEY, value);
  },
};

/**
 * @param {unknown} kept
 * @returns {string[]}
 */
const strings = (kept) => (Array.isArray(kept) ? kept.filter((one) => typeof one === 'string') : []);

function readKept() {
  try {
    return fieldsOf(JSON.parse(localStorage.getItem(KEPT) ?? '{}'));
  } catch {
    return {}; // an unreadable note of ours is worth nothing
  }
}

/** @returns {Partial<State>} */
export function restored() {
  const kept = readKept();
  const route = routeOf(location.pathname, history.state);
  const tabs = strings(kept.tabs);
  if (route.name === 'session' && route.id && !tabs.includes(route.id)) tabs.push(route.id);
  return {
    route,
    tabs,
    collapsed: strings(kept.collapsed),
    pins: strings(kept.pins),
    notify: kept.notify === true,
    muted: strings(kept.muted),
    side: kept.side !== false,
    panel: kept.panel === true,
    theme: kept.theme === 'dark' || kept.theme === 'light' ? kept.theme : 'auto',
    seen: table(/** @type {State['seen']} */ (fieldsOf(kept.seen))),
    held: Array.isArray(kept.held) ? kept.held : [],
    restoredSeen: typeof kept.restoredSeen === 'string' ? kept.restoredSeen : '',
    edits: table(/** @type {State['edits']} */ (fieldsOf(kept.edits))),
  };
}

/**
 * @param {State} now
 * @param {State} before
 */
export function keepInPlace(now, before) {
  if (PARTS.every((part) => now[part] === before[part])) return;
  localStorage.setItem(KEPT, JSON.stringify(Object.fromEntries(PARTS.map((part) => [part, now[part]]))));
}

/** @param {string} id */
export const draftOf = (id) => localStorage.getItem(DRAFT + id) ?? '';

/**
 * @param {string} id
 * @param {string} text
 */
export function keepDraft(id, text) {
  if (text) localStorage.setItem(DRAFT + id, text);
  else localStorage.removeItem(DRAFT + id);
}

/**
 * The names of the drafts that begin so.
 * @param {string} beginning
 */
export const draftNames = (beginning) =>
  Object.keys(localStorage)
    .filter((name) => name.startsWith(`${DRAFT}${beginning}`))
    .map((name) => name.slice(DRAFT.length));

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

/** The secret of a one-time link, which is no key yet. To be taken before `takeSecret` clears the address. */
export function takePairing() {
  const match = /^#pair=([A-Za-z0-9_-]{8,200})$/.exec(location.hash);
  return match ? match[1] : null;
}

/** The token of a one-time link that approves a start. */
export function takeApproval() {
  const match = /^#approve=([A-Za-z0-9_-]{20,200})$/.exec(location.hash);
  return match ? match[1] : null;
}

/** A machine and its code, by which this browser is to sign starts there. It is used when a person says so. */
export function takeTrust() {
  const match = /^#trust=([\w-]{1,100})\.([0-9A-Za-z-]{26,40})$/.exec(location.hash);
  return match ? { device: match[1], code: match[2], problem: '' } : null;
}

/** The prompt that the launch window hands over, by its id in the fragment. To be taken before the secret is. */
export function takeOffer() {
  const match = /^#offer=([A-Za-z0-9_-]{10,60})$/.exec(location.hash);
  return match ? match[1] : null;
}

const OFFER = 'bascule.offer';

/** An offered prompt that is too long for a draft: after a reload it is asked for again, by its id. */
export const keptOffer = {
  get: () => sessionStorage.getItem(OFFER),
  /** @param {string} id */
  set: (id) => sessionStorage.setItem(OFFER, id),
  drop: () => sessionStorage.removeItem(OFFER),
};

/** Everything this browser keeps of ours, the key too. */
export function forgetAll() {
  for (const store of [localStorage, sessionStorage]) {
    for (const name of Object.keys(store)) if (name.startsWith('bascule.')) store.removeItem(name);
  }
}
