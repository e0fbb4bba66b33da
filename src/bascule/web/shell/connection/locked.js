/** What a browser sees that holds no valid key: what is wrong with it, how to get one, and a field to paste it. */

import { copyButton } from '../../js/copy_button.js';
import { h, update } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { visible } from '../../js/visible.js';
import { secret } from '../storage.js';
import { deadLink } from './dead_link.js';
import { enterByLink } from './pairing.js';

/** @typedef {import('../app.js').App} App */

const ANYWHERE = 'bascule trust generate --role owner browser';
const PAIR = 'bascule pair';

/**
 * This browser holds no key that opens. A link that no longer works must not lock out one who was in.
 * @param {HTMLElement} root
 * @param {App} app
 * @param {{before: string | null, shared: boolean}} came the key from before this link; by a link to one session
 */
export function mountLocked(root, app, { before, shared }) {
  let problem = '';
  const draw = () => {
    const { line } = app.store.get();
    const locked = line.phase === 'refused';
    document.body.classList.toggle('islocked', locked);
    root.hidden = !locked;
    if (!locked) return;
    const { title, lead, owner } = deadLink(line.why, { shared, key: Boolean(secret.get()), now: Date.now() });
    update(root, [
      h(
        'div',
        { class: 'center' },
        h(
          'div',
          { class: 'locked' },
          icon('logo', 56),
          h('h1', { class: 'hero' }, visible(title)),
          h('p', { class: 'lead' }, visible(lead)),
          owner && wayIn(app, line.why?.command, line.why?.pair ? PAIR : ANYWHERE),
          pasteForm((text) => void enter(text)),
          problem && h('p', { class: 'error-message', role: 'alert' }, icon('alert', 14), problem),
        ),
      ),
    ]);
  };
  app.store.subscribe((now, last) => {
    const locked = now.line.phase === 'refused';
    if (locked && before) {
      secret.set(before);
      before = null;
      app.note('That link no longer works. You are still signed in as before.', { tone: 'bad', stay: true });
      void app.feed.connect();
    } else if (now.line !== last.line) draw();
  });
  /** @param {string} text */
  async function enter(text) {
    const link = /#pair=([A-Za-z0-9_-]{8,})\s*$/.exec(text)?.[1];
    if (link) {
      problem = '';
      await enterByLink(app, link);
      draw();
      return;
    }
    const key = /(?:#(?:token|k)=)?([A-Za-z0-9_.~-]{8,})\s*$/.exec(text.trim())?.[1];
    problem = key ? '' : 'That is not a Bascule link. It ends with #token= and the key.';
    if (key) {
      secret.set(key);
      shared = false;
      await app.feed.connect();
      if (app.store.get().line.phase === 'refused') problem = 'That key does not work here.';
    }
    draw();
  }
}

/**
 * Who sits at this machine is shown its own command; from elsewhere nobody is asked to run one on a machine that may
 * not be theirs.
 * @param {App} app
 * @param {string | undefined} command
 * @param {string} anywhere the same on a machine that is not known
 */
const wayIn = (app, command, anywhere) =>
  command
    ? [
        h('p', { class: 'lead' }, 'If this machine is yours, make a link in a terminal, then open it here:'),
        commandLine(app, command),
      ]
    : [
        h('p', { class: 'lead' }, 'Ask whoever runs it for a link.'),
        h(
          'details',
          { class: 'locked__mine' },
          h('summary', null, 'It is my machine'),
          h('p', null, 'Create a link in a terminal on that machine, then open it here:'),
          commandLine(app, anywhere),
        ),
      ];

/**
 * @param {App} app
 * @param {string} command
 */
const commandLine = (app, command) =>
  h(
    'div',
    { class: 'input mono copy-line' },
    h('span', { title: command }, visible(command)),
    copyButton('Copy the command', () => app.copy(command)),
  );

/** @param {(text: string) => void} enter */
const pasteForm = (enter) =>
  h(
    'form',
    {
      'data-key': 'paste', // what stands above it changes once the server has said why
      onsubmit: (/** @type {On<HTMLFormElement>} */ event) => {
        event.preventDefault();
        enter(event.currentTarget.querySelector('input')?.value ?? '');
      },
    },
    h('input', {
      class: 'input mono grow',
      'aria-label': 'Link or key',
      placeholder: 'Or paste the link here',
      type: 'password',
      autocomplete: 'off',
    }),
    h('button', { class: 'button is-primary', type: 'submit' }, 'Open'),
  );
