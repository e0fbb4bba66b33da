/** What somebody sees who was sent a link to one session: whose it is, that they only read, and when it ends. */

import { h, update } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { endsWords } from '../../js/format.js';
import { isGuest, shownSession } from '../state.js';
import { isTerminal } from '../terminal/terminals.js';

/**
 * @param {HTMLElement} root
 * @param {import('../app.js').App} app
 */
export function mountGuest(root, app) {
  /** @param {import('../state.js').State} state */
  const draw = (state) => {
    const guest = isGuest(state);
    document.body.classList.toggle('isguest', guest);
    document.getElementById('app')?.classList.toggle('solo', guest);
    update(
      root,
      guest
        ? [
            h(
              'div',
              { class: 'banner info', role: 'status' },
              icon('eye'),
              h(
                'span',
                null,
                h('b', null, `${state.me?.madeBy || 'Somebody'} shared this session with you.`),
                isTerminal(state, shownSession(state))
                  ? ' This session is a terminal, and a link does not show its screen.'
                  : ' You’re following live. You can’t send, type or approve.',
              ),
              h('span', { class: 'spacer' }),
              state.me?.expiresAt && h('small', null, `link ${endsWords(state.me.expiresAt, Date.now())}`),
            ),
          ]
        : [],
    );
  };
  app.store.subscribe((now, before) => {
    if (
      now.me !== before.me ||
      now.tick !== before.tick ||
      now.sessions !== before.sessions ||
      now.route !== before.route
    )
      draw(now);
  });
  draw(app.store.get());
}
