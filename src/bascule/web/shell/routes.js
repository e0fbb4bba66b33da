/** Routes: which screen an address stands for, and the address of a screen. Pure but for `atShared`. */

import { fieldsOf } from '../js/json.js';

/** @typedef {import('./state.js').Route} Route */

const SETTINGS_PARTS = [
  'general',
  'agents',
  'devices',
  'browsers',
  'rules',
  'limits',
  'notifications',
  'usage',
  'audit',
];

/** The screens with an address of their own. The server has a row for each in `hub/api/pages.py`. */
export const SCREENS = /** @type {const} */ ({ start: '/', inbox: '/inbox', list: '/sessions', search: '/search' });

/** @param {Route} route */
export function placeOf(route) {
  switch (route.name) {
    case 'session':
      return `/sessions/${encodeURIComponent(route.id ?? '')}`;
    case 'settings':
      return `/settings/${route.part ?? 'general'}`;
    case 'compare':
    case 'library':
      return route.id ? `/${route.name}/${encodeURIComponent(route.id)}` : `/${route.name}`;
    default:
      return SCREENS[route.name];
  }
}

/**
 * @param {string} path
 * @param {unknown} [kept] what the browser's history keeps of the place
 * @returns {Route}
 */
export function routeOf(path, kept) {
  const [, first, second] = path.split('/');
  if (first === 'sessions' && second) return { name: 'session', id: decodeURIComponent(second) };
  if (first === 'compare' || first === 'library')
    return { name: first, ...(second ? { id: decodeURIComponent(second) } : {}) };
  if (first === 'settings') return { name: 'settings', part: SETTINGS_PARTS.includes(second) ? second : 'general' };
  const names = /** @type {(keyof typeof SCREENS)[]} */ (Object.keys(SCREENS));
  const name = names.find((screen) => SCREENS[screen] === path) ?? 'start';
  const { q } = fieldsOf(kept);
  return typeof q === 'string' ? { name, q } : { name };
}

/** Is this the address of a link to one session? */
export const atShared = () => /^\/s(\/|$)/.test(location.pathname);
