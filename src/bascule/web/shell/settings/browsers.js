/** Trusted browsers: who holds a key, adding one by link or by code, taking one back. */

import { h, iconButton } from '../../js/dom.js';
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
});

/** @param {Context} context */
export function browsersPart({ app, loaded, again }) {
  const grants = (loaded.grants ?? []).filter((/** @type {any} */ one) => one.role !== 'session');
  const single = (loaded.grants ?? []).length - grants.length;

  async function add(/** @type {any} */ event) {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const days = Number(form.get('days'));
    try {
      const made = await app.api.makeGrant({
        name: String(form.get('name')).trim() || 'A browser',
        role: String(form.get('role')),
        ...(days ? { expiresIn: days * 86400 } : {}),
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

  const near = /^(localhost|127\.|\[::1\])/.test(location.host);
  return [
    partHead(
      'Trusted browsers',
      'Each browser holds its own key. Revoke one and its open pages close within two seconds.',
    ),
    problem(loaded.problem),
    h(
      'div',
      { class: 'card trust' },
      loaded.link &&
        loaded.code &&
        h('span', { class: 'qrw', 'data-key': 'code' }, qrView(loaded.code, 'The link as a code for a phone')),
      h(
        'form',
        { class: 'tb', 'data-key': 'form', onsubmit: add },
        h('h3', null, 'Add a browser'),
        loaded.link
          ? [
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
                { class: 'inp mono lk' },
                h('span', null, loaded.link),
                iconButton('copy', 'Copy the link', { onclick: () => app.copy(loaded.link) }),
              ),
              h(
                'div',
                null,
                h(
                  'button',
                  {
                    type: 'button',
                    class: 'btn line',
                    onclick: () => {
                      loaded.link = '';
                      loaded.code = null;
                      again();
                    },
                  },
                  'Done',
                ),
              ),
            ]
          : [
              h('p', null, 'A phone, a tablet, somebody else. You get a link and a code to scan, shown only once.'),
              h(
                'div',
                { class: 'frow' },
                h(
                  'label',
                  { class: 'grow' },
                  h('span', null, 'Name'),
                  h('input', {
                    class: 'inp',
                    name: 'name',
                    placeholder: 'Mira’s tablet',
                    maxlength: 80,
                    required: true,
                  }),
                ),
                h(
                  'label',
                  null,
                  h('span', null, 'May'),
                  h(
                    'select',
                    { class: 'inp', name: 'role' },
                    ROLES.map(([value, label]) => h('option', { value }, label)),
                  ),
                ),
                h(
                  'label',
                  null,
                  h('span', null, 'For'),
                  h(
                    'select',
                    { class: 'inp', name: 'days' },
                    TIMES.map(([value, label]) => h('option', { value: String(value) }, label)),
                  ),
                ),
                h('button', { class: 'btn pri', type: 'submit' }, 'Make a link'),
              ),
            ],
      ),
    ),
    h(
      'div',
      { class: 'tw' },
      h(
        'table',
        { class: 'tbl' },
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
          grants.map((/** @type {any} */ one) => row(one)),
        ),
      ),
    ),
    single > 0 &&
      h(
        'p',
        { class: 'hint' },
        `Besides, ${count(single, 'session')} ` +
          `${single === 1 ? 'has a key of its own' : 'each have a key of their own'}.`,
      ),
  ];

  /** @param {any} one */
  function row(one) {
    const state = app.store.get();
    const now = Date.now();
    const title = state.sessions[one.sessionId]?.title;
    const here = one.id === state.me?.grantId;
    return h(
      'tr',
      { 'data-key': one.id },
      h(
        'td',
        null,
        h(
          'span',
          { class: 'tn' },
          icon(one.sessionId ? 'link' : 'device'),
          h(
            'span',
            null,
            h('b', null, visible(one.name)),
            h(
              'small',
              null,
              here ? 'this browser' : one.sessionId ? `one session${title ? `: ${visible(title)}` : ''}` : '',
            ),
          ),
        ),
      ),
      h('td', null, h('span', { class: 'role' }, NAMES[one.role] ?? one.role)),
      h('td', null, here ? 'now' : one.lastUsedAt ? `${waited(now - Date.parse(one.lastUsedAt))} ago` : 'never used'),
      h('td', null, one.expiresAt ? endsWords(one.expiresAt, now).replace('ends ', '') : 'never'),
      h(
        'td',
        null,
        here
          ? 'In use'
          : h(
              'button',
              {
                type: 'button',
                class: 'btn quiet dng',
                onclick: () =>
                  void app.api.revokeGrant(one.id).then(async () => {
                    loaded.grants = await app.api.grants();
                    again();
                  }, app.trouble),
              },
              'Revoke',
            ),
      ),
    );
  }
}
