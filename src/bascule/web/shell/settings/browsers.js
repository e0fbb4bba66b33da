/** Trusted browsers: who holds a key, adding one by link or by code, taking one back. */

import { copyButton } from '../../js/copy_button.js';
import { h } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { qrView } from '../../js/qr.js';
import { visible } from '../../js/visible.js';
import { count, endsWords, waited } from '../../js/format.js';
import { partHead, problem } from './parts.js';
import { table } from '../../js/tables.js';

/** @typedef {import('./parts.js').Context} Context */

const ROLES = /** @type {const} */ ([
  ['operator', 'Send and approve'],
  ['viewer', 'Read along'],
  ['owner', 'Everything'],
]);
const DAY = 86_400; // seconds
const TIMES = /** @type {const} */ ([
  [30, '30 days'],
  [1, '1 day'],
  [7, '7 days'],
  [0, 'Until revoked'],
]);
const NAMES = table({
  owner: 'Owner',
  operator: 'Operator',
  viewer: 'Viewer',
  session: 'One session',
  daemon: 'Device',
  site: 'Launches by its page',
});

/** @param {Context} context */
export function browsersPart(context) {
  const { loaded } = context;
  const grants = (loaded.grants ?? []).filter(
    (/** @type {import('../../js/types.d.ts').GrantView} */ one) => one.role !== 'session',
  );
  const single = (loaded.grants ?? []).length - grants.length;
  return [
    partHead(
      'Trusted browsers',
      'Each browser holds its own key. Revoke one and its open pages close within two seconds. ' +
        'Web sites that may launch agents by the launch bridge are listed here too.',
    ),
    problem(loaded.problem),
    addCard(context),
    grantTable(context, grants),
    single > 0 &&
      h('p', { class: 'hint' }, `${count(single, 'session')} also ${single === 1 ? 'has its' : 'have their'} own key.`),
  ];
}

/** @param {Context} context */
function addCard(context) {
  const { loaded } = context;
  const onsubmit = (/** @type {On<HTMLFormElement>} */ event) => {
    event.preventDefault();
    void add(context, new FormData(event.currentTarget));
  };
  return h(
    'div',
    { class: 'card trust' },
    loaded.link &&
      loaded.code &&
      h('span', { class: 'qr-frame', 'data-key': 'code' }, qrView(loaded.code, 'The link as a code for a phone')),
    h(
      'form',
      { class: 'trust__form', 'data-key': 'form', onsubmit },
      h('h3', null, 'Add a browser'),
      loaded.link ? madeLink(context) : addFields(),
    ),
  );
}

/**
 * @param {Context} context
 * @param {FormData} form
 */
async function add({ app, loaded, again }, form) {
  const days = Number(form.get('days'));
  try {
    const made = await app.api.makeGrant({
      name: String(form.get('name')).trim() || 'A browser',
      role: /** @type {import('../../js/types.d.ts').GrantBody['role']} */ (form.get('role')),
      ...(days ? { expiresIn: days * DAY } : {}),
    });
    // The address this page itself was reached by is the one that works from elsewhere, too.
    loaded.link = `${location.origin}/#token=${made.token}`;
    loaded.code = await app.api.qr(loaded.link);
    loaded.grants = await app.api.grants();
    loaded.problem = '';
  } catch (error) {
    loaded.problem = /** @type {Error} */ (error).message;
  }
  again();
}

/** @param {Context} context */
function madeLink({ app, loaded, again }) {
  const near = /^(localhost|127\.|\[::1\])/.test(location.host);
  const done = () => {
    loaded.link = '';
    loaded.code = null;
    again();
  };
  return [
    h(
      'p',
      null,
      'Scan this with the phone, or open the link there. Whoever has it gets in, so send it like a password.',
    ),
    near &&
      h(
        'p',
        { class: 'hint' },
        'This address is reached from this machine only. Open Bascule by the machine’s ' +
          'name first to make a link for another device.',
      ),
    h(
      'div',
      { class: 'input mono copy-line' },
      h('span', null, loaded.link),
      copyButton('Copy the link', () => app.copy(loaded.link)),
    ),
    h('div', null, h('button', { type: 'button', class: 'button line', onclick: done }, 'Done')),
  ];
}

const addFields = () => [
  h('p', null, 'A phone, a tablet, somebody else. You get a link and a code to scan, shown only once.'),
  h(
    'div',
    { class: 'form-row' },
    h(
      'label',
      { class: 'grow' },
      h('span', null, 'Name'),
      h('input', { class: 'input', name: 'name', placeholder: 'Mira’s tablet', maxlength: 80, required: true }),
    ),
    choice('May', 'role', ROLES),
    choice('For', 'days', TIMES),
    h('button', { class: 'button is-primary', type: 'submit' }, 'Make a link'),
  ),
];

/**
 * @param {string} label
 * @param {string} name
 * @param {readonly (readonly [any, string])[]} options
 */
const choice = (label, name, options) =>
  h(
    'label',
    null,
    h('span', null, label),
    h(
      'select',
      { class: 'input', name },
      options.map(([value, text]) => h('option', { value: String(value) }, text)),
    ),
  );

/**
 * @param {Context} context
 * @param {import('../../js/types.d.ts').GrantView[]} grants
 */
const grantTable = (context, grants) =>
  h(
    'div',
    { class: 'table-frame' },
    h(
      'table',
      { class: 'data-table' },
      h(
        'thead',
        null,
        h(
          'tr',
          null,
          ['Browser', 'Role', 'Last used', 'Ends', ''].map((one) =>
            h('th', null, one || h('span', { class: 'spoken' }, 'Action')),
          ),
        ),
      ),
      h(
        'tbody',
        null,
        grants.map((one) => grantRow(context, one)),
      ),
    ),
  );

/**
 * @param {Context} context
 * @param {import('../../js/types.d.ts').GrantView} one
 */
function grantRow(context, one) {
  const state = context.app.store.get();
  const now = Date.now();
  const title = state.sessions[one.sessionId ?? '']?.title;
  const here = one.id === state.me?.grantId;
  const reach = one.sessionId ? `one session${title ? `: ${visible(title)}` : ''}` : '';
  return h(
    'tr',
    { 'data-key': one.id },
    h(
      'td',
      null,
      h(
        'span',
        { class: 'data-table__name' },
        icon(one.sessionId || one.role === 'site' ? 'link' : 'device'),
        h('span', null, h('b', null, visible(one.name)), h('small', null, here ? 'this browser' : reach)),
      ),
    ),
    h('td', null, h('span', { class: 'role' }, NAMES[one.role] ?? one.role)),
    h('td', null, here ? 'now' : one.role === 'site' ? '' : usedWords(one, now)),
    h('td', null, one.expiresAt ? endsWords(one.expiresAt, now).replace('ends ', '') : 'never'),
    h('td', null, here ? 'In use' : revokeButton(context, one.id)),
  );
}

/**
 * @param {import('../../js/types.d.ts').GrantView} one
 * @param {number} now
 */
const usedWords = (one, now) => (one.lastUsedAt ? `${waited(now - Date.parse(one.lastUsedAt))} ago` : 'never used');

/**
 * @param {Context} context
 * @param {string} grantId
 */
function revokeButton({ app, loaded, again }, grantId) {
  const revoke = () =>
    void app.api.revokeGrant(grantId).then(async () => {
      loaded.grants = await app.api.grants();
      again();
    }, app.trouble);
  return h('button', { type: 'button', class: 'button quiet is-dangerous', onclick: revoke }, 'Revoke');
}
