/** Notes: short messages at the foot of the page, each with at most one action. */

import { h, iconButton, update } from '../../js/dom.js';
import { icon } from '../../js/icons.js';

/** @typedef {import('../app.js').App} App */

/**
 * @param {HTMLElement} root
 * @param {App} app
 */
export function mountNotes(root, app) {
  app.store.subscribe((state, before) => {
    if (state.notes === before.notes) return;
    update(
      root,
      state.notes.map((note) =>
        h(
          'div',
          { class: `note ${note.tone ?? ''}`, 'data-key': String(note.id) },
          icon(note.tone === 'bad' ? 'alert' : 'info'),
          h('span', null, note.text),
          note.action &&
            h(
              'button',
              {
                type: 'button',
                class: 'button is-small line',
                onclick: () => {
                  app.dropNote(note.id);
                  note.action?.run();
                },
              },
              note.action.label,
            ),
          iconButton('x', 'Close', { class: 'is-small', onclick: () => app.dropNote(note.id) }),
        ),
      ),
    );
  });
}
