/** A link that shows one session to somebody: made, shown as text and as a code for a phone, and taken back. */

import { h, iconButton, update } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { qrView } from '../../js/qr.js';
import { visible } from '../../js/visible.js';
import { endsWords } from '../../js/format.js';
import { popover } from '../parts.js';
import { isTerminal } from '../terminal/terminals.js';

/** @typedef {import('../app.js').App} App */

const TIMES = /** @type {const} */ ([
  [1, '1 day'],
  [7, '7 days'],
  [30, '30 days'],
]);

/**
 * @param {App} app
 * @param {HTMLElement} anchor
 * @param {string} id
 */
export function shareSession(app, anchor, id) {
  const root = h('div', { class: 'share' });
  /** @type {any[]} */
  let grants = [];
  let link = '';
  /** @type {string[]} */
  let rows = [];
  let problem = '';
  let days = 7;
  const screen = isTerminal(app.store.get(), id);

  async function make() {
    try {
      const made = await app.api.share(id, { expiresIn: days * 86_400 });
      // The address this page itself was reached by is the one that works for others, too.
      link = `${location.origin}/s#token=${made.token}`;
      rows = await app.api.qr(link);
      problem = '';
    } catch (error) {
      problem = /** @type {Error} */ (error).message;
    }
    await load();
  }

  async function load() {
    try {
      grants = (await app.api.grants()).filter(
        (/** @type {any} */ one) => one.sessionId === id && one.role === 'viewer',
      );
    } catch (error) {
      problem = /** @type {Error} */ (error).message;
    }
    draw();
  }

  function draw() {
    update(root, [
      h('h2', null, 'Share this session'),
      h(
        'p',
        null,
        screen
          ? 'A link does not show a terminal’s screen. To let somebody see it live, give them access ' +
              'of their own in Settings, Trusted browsers.'
          : 'Whoever has the link reads along live, until it ends or you revoke it. They can’t send, ' +
              'type or approve, and see no files.',
      ),
      problem && h('p', { class: 'emsg', role: 'status' }, icon('alert', 14), problem),
      link
        ? h(
            'div',
            { class: 'made', 'data-key': 'made' },
            rows.length > 0 && h('span', { class: 'qrw' }, qrView(rows, 'The link as a code for a phone')),
            h(
              'div',
              null,
              h(
                'div',
                { class: 'inp mono lk' },
                h('span', { title: link }, link),
                iconButton('copy', 'Copy the link', { onclick: () => app.copy(link) }),
              ),
              h('small', null, 'It is shown only this once.'),
            ),
          )
        : !screen &&
          h(
            'form',
            {
              class: 'frow',
              'data-key': 'form',
              onsubmit: (/** @type {any} */ event) => {
                event.preventDefault();
                days = Number(event.currentTarget.querySelector('select').value);
                void make();
              },
            },
            h(
              'label',
              { class: 'grow' },
              h('span', null, 'It ends after'),
              h(
                'select',
                { class: 'inp' },
                TIMES.map(([value, label]) => h('option', { value: String(value), selected: value === days }, label)),
              ),
            ),
            h('button', { type: 'submit', class: 'btn pri' }, 'Make a link'),
          ),
      grants.length > 0 &&
        h(
          'ul',
          { class: 'shares', 'aria-label': 'Links to this session' },
          grants.map((one) =>
            h(
              'li',
              { 'data-key': one.id },
              icon('link', 14),
              h(
                'span',
                null,
                visible(one.name),
                h('small', null, `${one.lastUsedAt ? 'used' : 'never used'} · ${endsWords(one.expiresAt, Date.now())}`),
              ),
              h(
                'button',
                {
                  type: 'button',
                  class: 'btn sm quiet dng',
                  onclick: () =>
                    void app.api.revokeGrant(one.id).then(() => {
                      link = '';
                      return load();
                    }, app.trouble),
                },
                'Revoke',
              ),
            ),
          ),
        ),
    ]);
  }

  draw();
  popover(anchor, root, 'Share this session');
  void load();
}
