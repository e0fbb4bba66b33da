/** Trusted browsers: who holds a key, adding one by link or by code, taking one back. */

import { copyButton } from '../../js/copy_button.js';
import { h } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { qrView } from '../../js/qr.js';
import { visible } from '../../js/visible.js';
import { count, endsWords, isNear, waited } from '../../js/format.js';
import { partHead, problem } from './parts.js';
import { table } from '../../js/tables.js';

/** @typedef {import('./parts.js').Context} Context */

const ROLES = /** @type {const} */ ([
  ['operator', 'Send and approve'],
  ['viewer', 'Follow only'],
  ['owner', 'Everything'],
]);
const DAY = 86_400; // seconds
const TIMES = /** @type {const} */ ([
  [30, 'In 30 days'],
  [1, 'In 1 day'],
  [7, 'In 7 days'],
  [0, 'Never'],
]);
const NAMES = table({
  owner: 'Owner',
  operator: 'Operator',
  viewer: 'Viewer',
  session: 'One session',
  daemon: 'Device',
});

/** @param {Context} context */
export function browsersPart(context) {
  const { loaded } = context;
  /** @type {import('../../js/types.d.ts').GrantView[]} */
  const all = loaded.grants ?? [];
  const sites = all.filter((grant) => grant.role === 'site');
  const grants = all.filter((grant) => grant.role !== 'session' && grant.role !== 'site');
  const single = all.length - grants.length - sites.length;
  return [
    partHead(
      'Trusted browsers',
      'Each browser holds its own key. Revoke one and its open pages close within two seconds.',
    ),
    problem(loaded.problem),
    addCard(context),
    grantTable(context, grants),
    single > 0 &&
      h('p', { class: 'hint' }, `${count(single, 'session')} also ${single === 1 ? 'has its' : 'have their'} own key.`),
    ...sitesPart(context, sites),
  ];
}

/**
 * @param {Context} context
 * @param {import('../../js/types.d.ts').GrantView[]} sites
 */
const sitesPart = (context, sites) => [
  partHead(
    'Trusted websites',
    sites.length
      ? 'Their pages may open a terminal with an agent here, without the launch window. Revoke one, and the window ' +
          'asks you again.'
      : 'None. Sites that you trust in the launch window are listed here.',
  ),
  sites.length > 0 &&
    h(
      'div',
      { class: 'table-frame' },
      h(
        'table',
        { class: 'data-table sites', 'aria-label': 'Trusted websites' },
        h(
          'thead',
          null,
          h(
            'tr',
            null,
            ['Site', 'Trusted', ''].map((title) => h('th', null, title || h('span', { class: 'spoken' }, 'Action'))),
          ),
        ),
        h(
          'tbody',
          null,
          sites.map((site) => siteRow(context, site)),
        ),
      ),
    ),
];

/**
 * @param {Context} context
 * @param {import('../../js/types.d.ts').GrantView} grant
 */
const siteRow = (context, grant) =>
  h(
    'tr',
    { 'data-key': grant.id },
    h(
      'td',
      null,
      h('span', { class: 'data-table__name' }, icon('link'), h('span', null, h('b', null, visible(grant.name)))),
    ),
    h('td', null, grant.createdAt ? `${waited(Date.now() - Date.parse(grant.createdAt))} ago` : ''),
    h('td', null, revokeButton(context, grant)),
  );

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
    loaded.code = isNear(location.hostname) ? null : await app.api.qr(loaded.link);
    loaded.grants = await app.api.grants();
    loaded.problem = '';
  } catch (error) {
    loaded.problem = /** @type {Error} */ (error).message;
  }
  again();
}

/** @param {Context} context */
function madeLink({ app, loaded, again }) {
  const near = isNear(location.hostname);
  const done = () => {
    loaded.link = '';
    loaded.code = null;
    again();
  };
  return [
    h(
      'p',
      null,
      near
        ? 'Anyone with this link gets in, so keep it like a password. Shown only once. Copy it now.'
        : 'Scan this with the phone, or open the link there. Anyone with it gets in, so send it like a password.',
    ),
    near &&
      h(
        'p',
        { class: 'hint' },
        'Only this machine can open it. Open Bascule at the machine’s name first to create a link for another device.',
      ),
    h(
      'div',
      { class: 'input mono copy-line' },
      h('span', null, loaded.link),
      copyButton('Copy the link', () => app.copy(loaded.link ?? '')),
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
    choice('Access', 'role', ROLES),
    choice('Expires', 'days', TIMES),
    h('button', { class: 'button is-primary', type: 'submit' }, 'Create a link'),
  ),
];

/**
 * @param {string} label
 * @param {string} name
 * @param {readonly (readonly [string | number, string])[]} options
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
        grants.map((grant) => grantRow(context, grant)),
      ),
    ),
  );

/**
 * @param {Context} context
 * @param {import('../../js/types.d.ts').GrantView} grant
 */
function grantRow(context, grant) {
  const state = context.app.store.get();
  const now = Date.now();
  const title = state.sessions[grant.sessionId ?? '']?.title;
  const here = grant.id === state.me?.grantId;
  const reach = grant.sessionId ? `one session${title ? `: ${visible(title)}` : ''}` : '';
  return h(
    'tr',
    { 'data-key': grant.id },
    h(
      'td',
      null,
      h(
        'span',
        { class: 'data-table__name' },
        icon(grant.sessionId ? 'link' : 'device'),
        h('span', null, h('b', null, visible(grant.name)), h('small', null, here ? 'this browser' : reach)),
      ),
    ),
    h('td', null, h('span', { class: 'role' }, NAMES[grant.role] ?? grant.role)),
    h('td', null, here ? 'now' : usedWords(grant, now)),
    h('td', null, grant.expiresAt ? endsWords(grant.expiresAt, now).replace('ends ', '') : 'never'),
    h('td', null, here ? 'In use' : revokeButton(context, grant)),
  );
}

/**
 * @param {import('../../js/types.d.ts').GrantView} grant
 * @param {number} now
 */
const usedWords = (grant, now) =>
  grant.lastUsedAt ? `${waited(now - Date.parse(grant.lastUsedAt))} ago` : 'never used';

/**
 * @param {Context} context
 * @param {import('../../js/types.d.ts').GrantView} grant
 */
function revokeButton({ app, loaded, again }, grant) {
  const revoke = () =>
    void app.api.revokeGrant(grant.id).then(async () => {
      loaded.grants = await app.api.grants();
      again();
    }, app.trouble);
  const spoken = h('span', { class: 'spoken' }, ` ${visible(grant.name)}`);
  return h('button', { type: 'button', class: 'button quiet is-dangerous', onclick: revoke }, 'Revoke', spoken);
}
