/** The number of things that need a person in the title and the icon of the browser's tab. */

import { guarded } from '../requests/guard.js';
import { titleOf } from '../sessions.js';
import { openRequests, shownSession } from '../state.js';

/** @typedef {import('../app.js').App} App */

/**
 * The count of open requests in the tab's title and icon.
 * @param {App} app
 */
export function mountTitle(app) {
  const link = /** @type {HTMLLinkElement} */ (document.querySelector('link[rel=icon]'));
  const calm = link.href;
  let last = -1;
  app.store.subscribe((state) => {
    const n = openRequests(state).length + guarded(state).length;
    const session = state.sessions[shownSession(state) ?? ''];
    const name = state.route.name === 'session' && session?.title ? `${titleOf(session)} · Bascule` : 'Bascule';
    const title = n ? `(${n}) ${name}` : name;
    if (document.title !== title) document.title = title;
    if (n === last) return;
    last = n;
    link.href = n ? amberIcon(n) : calm;
  });
}

/** @param {number} n */
function amberIcon(n) {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 32;
  const draw = canvas.getContext('2d');
  if (!draw) return '';
  draw.fillStyle = '#e0af68';
  draw.beginPath();
  draw.arc(16, 16, 15, 0, 7);
  draw.fill();
  draw.fillStyle = '#17130a';
  draw.font = '700 20px sans-serif';
  draw.textAlign = 'center';
  draw.fillText(n > 9 ? '9+' : String(n), 16, 23);
  return canvas.toDataURL();
}
