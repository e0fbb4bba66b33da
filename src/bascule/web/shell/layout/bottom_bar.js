/** The bottom bar of phones: one button for each screen. */

import { h, update } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { guarded } from '../requests/guard.js';
import { badge } from '../sidebar/sidebar.js';
import { openRequests } from '../state.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */

/**
 * @param {HTMLElement} root
 * @param {App} app
 */
export function mountBottomBar(root, app) {
  const places = /** @type {const} */ ([
    ['list', 'chat', 'Sessions'],
    ['inbox', 'inbox', 'Inbox'],
    ['start', 'plus', 'New'],
    ['library', 'book', 'Library'],
    ['compare', 'columns', 'Compare'],
    ['settings', 'gear', 'Settings'],
  ]);
  /** @param {State} state */
  const draw = (state) => {
    const top = state.route.name !== 'session';
    document.body.classList.toggle('hasnav', top);
    document.body.classList.toggle('haslist', state.route.name === 'list');
    root.hidden = !top;
    update(
      root,
      places.map(([name, mark, label]) =>
        h(
          'button',
          {
            type: 'button',
            class: `${state.route.name === name ? 'is-selected' : ''} ${name === 'start' ? 'bottom-bar__new' : ''}`,
            'aria-current': state.route.name === name ? 'page' : null,
            onclick: () => app.go({ name }),
          },
          icon(mark, 20),
          h('span', null, label),
          name === 'inbox' && badge(openRequests(state).length + guarded(state).length),
        ),
      ),
    );
  };
  app.store.subscribe(draw);
  draw(app.store.get());
}
