/** Trusted browsers: who holds a key, adding one by link, taking one back. */

import { h, iconButton } from '../js/dom.js';
import { icon } from '../js/icons.js';
import { visible } from '../js/visible.js';
import { moment } from '../js/words.js';
import { partHead, problem } from './settings_parts.js';

/** @typedef {import('./settings_parts.js').Context} Context */

const ROLES = /** @type {const} */ ([['operator', 'Send and approve'], ['viewer', 'Read along'], ['owner', 'Everything']]);
const TIMES = /** @type {const} */ ([[30, '30 days'], [1, '1 day'], [7, '7 days'], [0, 'Until revoked']]);
const NAMES = /** @type {Record<string, string>} */ ({ owner: 'Owner', operator: 'Operator', viewer: 'Viewer', session: 'One session', daemon: 'Device' });

/** @param {Context} context */
export function browsersPart({ app, loaded, again }) {
  const grants = (loaded.grants ?? []).filter((/** @type {any} */ one) => one.role !== 'session');
  const single = (loaded.grants ?? []).length - grants.length;

  async function add(/** @type {any} */ event) {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const days = Number(form.get('days'));
    try {
      const made = await app.api.makeGrant({ name: String(form.get('name')).trim() || 'A browser', role: String(form.get('role')), ...(days ? { expiresIn: days * 86400 } : {}) });
      // The address this page itself was reached by is the one that works from elsewhere, too.
      loaded.link = `${location.origin}/#token=${made.token}`;
      loaded.grants = await app.api.grants();
    } catch (error) {
      loaded.problem = /** @type {Error} */ (error).message;
    }
    again();
  }

  return [partHead('Trusted browsers', 'Each browser holds its own key. Revoke one and its open pages close within two seconds.'),
    problem(loaded.problem),
    h('div', { class: 'card trust' }, h('form', { class: 'tb', onsubmit: add },
      h('h3', null, 'Add a browser'),
      loaded.link ? [h('p', null, 'Open this link there. Whoever has it gets in, so send it like a password.'),
        h('div', { class: 'inp mono lk' }, h('span', null, loaded.link), iconButton('copy', 'Copy the link', { onclick: () => app.copy(loaded.link) })),
        h('button', { type: 'button', class: 'btn quiet', onclick: () => { loaded.link = ''; again(); } }, 'Done')]
        : h('div', { class: 'frow' },
          h('label', { class: 'grow' }, h('span', null, 'Name'), h('input', { class: 'inp', name: 'name', placeholder: 'Mira’s tablet', maxlength: 80, required: true })),
          h('label', null, h('span', null, 'May'), h('select', { class: 'inp', name: 'role' }, ROLES.map(([value, label]) => h('option', { value }, label)))),
          h('label', null, h('span', null, 'For'), h('select', { class: 'inp', name: 'days' }, TIMES.map(([value, label]) => h('option', { value: String(value) }, label)))),
          h('button', { class: 'btn pri', type: 'submit' }, 'Make a link')))),
    h('div', { class: 'tw' }, h('table', { class: 'tbl' }, h('thead', null, h('tr', null, ['Browser', 'Role', 'Since', 'Ends', ''].map((one) => h('th', null, one || h('span', { class: 'spoken' }, 'Action'))))),
      h('tbody', null, grants.map((/** @type {any} */ one) => h('tr', { 'data-key': one.id },
        h('td', null, h('span', { class: 'tn' }, icon('device'), h('b', null, visible(one.name)))), h('td', null, h('span', { class: 'role' }, NAMES[one.role] ?? one.role)),
        h('td', null, moment(one.createdAt, Date.now())), h('td', null, one.expiresAt ? moment(one.expiresAt, Date.now()) : 'never'),
        h('td', null, one.id === app.store.get().me?.grantId ? 'In use' : h('button', { type: 'button', class: 'btn quiet dng', onclick: () => void app.api.revokeGrant(one.id).then(async () => { loaded.grants = await app.api.grants(); again(); }, app.trouble) }, 'Revoke'))))))),
    single > 0 && h('p', { class: 'hint' }, `Besides, ${single} sessions each have a key of their own.`)];
}
