/** What a browser sees that holds no valid key: how to get one, and a field to paste it. */

import { h, update } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { secret } from '../storage.js';

/** @typedef {import('../app.js').App} App */

/**
 * This browser holds no key that opens. A link that no longer works must not lock out one who was in.
 * @param {HTMLElement} root
 * @param {App} app
 * @param {string | null} before the key from before this link
 */
export function mountLocked(root, app, before) {
  let problem = '';
  /** @param {boolean} locked */
  function draw(locked) {
    document.body.classList.toggle('islocked', locked);
    root.hidden = !locked;
    if (!locked) return;
    update(root, [
      h(
        'div',
        { class: 'center' },
        h(
          'div',
          { class: 'locked' },
          icon('logo', 56),
          h('h1', { class: 'hero' }, 'This browser is not trusted here'),
          h(
            'p',
            { class: 'lead' },
            'Bascule opens with a link that holds a key. Make one in a terminal on that machine, then open it here.',
          ),
          h('pre', null, 'bascule trust generate "this browser"'),
          h(
            'form',
            {
              onsubmit: (/** @type {On<HTMLFormElement>} */ event) => {
                event.preventDefault();
                void enter(event.currentTarget.querySelector('input')?.value ?? '');
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
          ),
          problem && h('p', { class: 'error-message', role: 'alert' }, icon('alert', 14), problem),
        ),
      ),
    ]);
  }
  app.store.subscribe((now, last) => {
    const locked = now.line.phase === 'refused';
    if (locked && before) {
      secret.set(before);
      before = null;
      app.note('That link no longer works. You are in as before.', { tone: 'bad', stay: true });
      void app.feed.connect();
    } else if (locked !== (last.line.phase === 'refused') || (locked && !root.childElementCount)) draw(locked);
  });
  /** @param {string} text */
  async function enter(text) {
    const key = /(?:#(?:token|k)=)?([A-Za-z0-9_.~-]{8,})\s*$/.exec(text.trim())?.[1];
    problem = key ? '' : 'That is not a link of Bascule’s. It ends with #token= and the key.';
    if (key) {
      secret.set(key);
      await app.feed.connect();
      if (app.store.get().line.phase === 'refused')
        problem = 'That key opens nothing here. Links end or are revoked; make a new one.';
    }
    if (app.store.get().line.phase === 'refused') draw(true);
  }
}
