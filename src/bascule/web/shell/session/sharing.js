/** A link that shows one session to somebody: made, shown as text and as a code for a phone, and taken back. */

import { copyButton } from '../../js/copy_button.js';
import { h, update } from '../../js/dom.js';
import { endsWords, isNear, moment } from '../../js/format.js';
import { icon } from '../../js/icons.js';
import { qrView } from '../../js/qr.js';
import { visible } from '../../js/visible.js';
import { popover } from '../parts.js';
import { renameMe } from '../settings/parts.js';
import { isTerminal } from '../terminal/terminals.js';

/** @typedef {import('../app.js').App} App */

const DAY = 86_400; // seconds
const FURTHER = 'bascule up --host <address> --tls-cert <file> --tls-key <file>';
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
  const links = new SessionLinks(app, id, () => draw());
  const draw = () => update(root, shareView(app, links, isTerminal(app.store.get(), id)));
  draw();
  popover(anchor, root, 'Share this session');
  void links.load();
}

/** The links to one session. */
class SessionLinks {
  /**
   * @param {App} app
   * @param {string} id
   * @param {() => void} changed
   */
  constructor(app, id, changed) {
    this.app = app;
    this.id = id;
    this.changed = changed;
    /** @type {import('../../js/types.d.ts').GrantView[]} */
    this.grants = [];
    this.link = ''; // one that was just made
    /** @type {string[]} */
    this.code = [];
    this.problem = '';
    this.days = 7;
    this.name = ''; // whom it is for
    this.keep = false; // keys and tokens are shown
    this.mine = ''; // the sharer's name, as guests see it
  }

  /** Nobody has said yet what this person is called. */
  get nameless() {
    const { me } = this.app.store.get();
    return me?.role === 'owner' && me.name === 'owner';
  }

  /** @param {number} days */
  choose(days) {
    this.days = days; // drawn again when the links arrive, so it must be known here
  }

  async make() {
    const { api } = this.app;
    try {
      if (this.nameless) await renameMe(this.app, this.mine.trim());
      const name = this.name.trim().slice(0, 100);
      const made = await api.share(this.id, {
        expiresIn: this.days * DAY,
        keepSecrets: this.keep,
        ...(name ? { name } : {}),
      });
      // The address this page itself was reached by is the one that works for others, too.
      this.link = `${location.origin}/s#token=${made.token}`;
      this.name = '';
      // A phone that scans an address of this machine's own would look for Bascule on itself.
      this.code = isNear(location.hostname) ? [] : await api.qr(this.link);
      this.problem = '';
    } catch (error) {
      this.problem = /** @type {Error} */ (error).message;
    }
    await this.load();
  }

  async load() {
    try {
      const grants = await this.app.api.grants();
      this.grants = grants.filter((grant) => grant.sessionId === this.id && grant.role === 'viewer');
    } catch (error) {
      this.problem = /** @type {Error} */ (error).message;
    }
    this.changed();
  }

  /** @param {string} grantId */
  revoke(grantId) {
    const { api, trouble } = this.app;
    void api.revokeGrant(grantId).then(() => {
      this.link = '';
      return this.load();
    }, trouble);
  }
}

/**
 * @param {App} app
 * @param {SessionLinks} links
 * @param {boolean} terminal
 */
const shareView = (app, links, terminal) => [
  h('h2', null, 'Share this session'),
  h(
    'p',
    null,
    terminal
      ? 'A link does not show a terminal’s screen. To let somebody see it live, give them access ' +
          'of their own in Settings, Trusted browsers.'
      : 'Anyone with the link can follow live until it expires or you revoke it. They can’t send, ' +
          'type or approve, and see no files.',
  ),
  links.problem && h('p', { class: 'error-message', role: 'status' }, icon('alert', 14), links.problem),
  links.link ? madeLink(app, links) : !terminal && makeForm(links),
  links.grants.length > 0 &&
    h(
      'ul',
      { class: 'shares', 'aria-label': 'Links to this session' },
      links.grants.map((grant) => linkRow(links, grant)),
    ),
];

/**
 * @param {App} app
 * @param {SessionLinks} links
 */
const madeLink = (app, { link, code }) =>
  h(
    'div',
    { class: 'made', 'data-key': 'made' },
    code.length > 0 && h('span', { class: 'qr-frame' }, qrView(code, 'The link as a code for a phone')),
    h(
      'div',
      null,
      h(
        'div',
        { class: 'input mono copy-line' },
        h('span', { title: link }, link),
        copyButton('Copy the link', () => app.copy(link)),
      ),
      h('small', null, 'Shown only once. Copy it now.'),
      isNear(location.hostname) && onlyHere(app),
    ),
  );

/** @param {App} app */
const onlyHere = (app) =>
  h(
    'div',
    { class: 'share__near' },
    icon('info', 14),
    h(
      'div',
      null,
      h('b', null, 'Only this machine can open it.'),
      ' To share it more widely, have Bascule listen on an address that others can reach, and open it there:',
      h(
        'div',
        { class: 'input mono copy-line' },
        h('span', null, FURTHER),
        copyButton('Copy the command', () => app.copy(FURTHER)),
      ),
    ),
  );

/**
 * @param {string} placeholder
 * @param {(text: string) => void} typed
 */
const wordField = (placeholder, typed) =>
  h('input', {
    class: 'input',
    maxlength: 100,
    autocomplete: 'off',
    placeholder,
    oninput: (/** @type {On<HTMLInputElement>} */ event) => typed(event.currentTarget.value),
  });

/** @param {SessionLinks} links */
const makeForm = (links) =>
  h(
    'form',
    {
      class: 'share__form',
      'data-key': 'form',
      onsubmit: (/** @type {On<HTMLFormElement>} */ event) => {
        event.preventDefault();
        void links.make();
      },
    },
    h(
      'label',
      { class: 'grow' },
      h('span', null, 'Who is it for?'),
      wordField('Jonas, the review, …', (text) => (links.name = text)),
    ),
    links.nameless &&
      h(
        'label',
        { class: 'grow' },
        h('span', null, 'Your name, as they see it'),
        wordField('Mira', (text) => (links.mine = text)),
      ),
    h(
      'label',
      null,
      h('span', null, 'Expires after'),
      h(
        'select',
        {
          class: 'input',
          onchange: (/** @type {On<HTMLInputElement>} */ event) => links.choose(Number(event.currentTarget.value)),
        },
        TIMES.map(([value, label]) => h('option', { value: String(value), selected: value === links.days }, label)),
      ),
    ),
    h(
      'label',
      { class: 'check' },
      h('input', {
        type: 'checkbox',
        onchange: (/** @type {On<HTMLInputElement>} */ event) => (links.keep = event.currentTarget.checked),
      }),
      h('span', null, 'Show keys and tokens. Otherwise they read [hidden].'),
    ),
    h('button', { type: 'submit', class: 'button is-primary' }, 'Create a link'),
  );

/**
 * @param {SessionLinks} links
 * @param {import('../../js/types.d.ts').GrantView} grant
 */
const linkRow = (links, grant) =>
  h(
    'li',
    { 'data-key': grant.id },
    icon('link', 14),
    h('span', null, visible(grant.name), h('small', null, shareWords(grant, Date.now()))),
    h(
      'button',
      { type: 'button', class: 'button is-small quiet is-dangerous', onclick: () => links.revoke(grant.id) },
      'Revoke',
    ),
  );

/**
 * "made 17 Nov, 12:05 · reading now · ends in 7 days"
 * @param {import('../../js/types.d.ts').GrantView} grant
 * @param {number} now
 */
export const shareWords = (grant, now) =>
  [
    grant.createdAt ? `made ${moment(grant.createdAt, now)}` : '',
    grant.openStreams ? 'reading now' : grant.lastUsedAt ? `read ${moment(grant.lastUsedAt, now)}` : 'never opened',
    endsWords(grant.expiresAt ?? null, now),
  ]
    .filter(Boolean)
    .join(' · ');
