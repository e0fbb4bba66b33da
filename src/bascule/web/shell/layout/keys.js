/** Keys that work anywhere. Single letters only outside text fields. */

import { table } from '../../js/tables.js';
import { control } from '../parts.js';
import { mayStart } from '../state.js';
import { closeTab } from '../session/tabs.js';

/** @typedef {import('../app.js').App} App */

const TYPED = 'input, textarea, select, [contenteditable], [role=dialog], [role=menu], .request';

/**
 * @param {App} app
 * @param {{palette: () => void, keys: () => void, ask: () => void, find: () => void, inbox: (by: number) => void}} does
 */
export function listenForKeys(app, does) {
  let went = 0;
  const composer = () =>
    document.getElementById(app.store.get().route.name === 'session' ? 'message' : 'task')?.focus();
  const skip = /** @type {HTMLElement} */ (document.querySelector('.skip'));
  skip.onclick = (event) => {
    event.preventDefault();
    composer();
  };
  /** @type {Record<string, () => void>} */
  const shortcuts = table({
    k: does.palette,
    b: () => app.store.set((state) => ({ side: !state.side })),
    j: () => app.store.set((state) => ({ panel: !state.panel })),
    '.': does.ask,
    i: composer,
    f: does.find,
  });
  const shortcut = (/** @type {string} */ key) =>
    key === 'f' && app.store.get().route.name !== 'session' ? undefined : shortcuts[key];
  app.events.on('shortcut', (key) => shortcut(key)?.());
  addEventListener('keydown', (event) => {
    const target = event.target instanceof Element ? event.target : document.body;
    const state = app.store.get();
    const held = (/** @type {() => void} */ run) => {
      event.preventDefault();
      run();
    };
    if (control(event) && !event.altKey && !event.shiftKey) {
      const run = shortcut(event.key);
      if (run) held(run);
      return;
    }
    // By the key's place: with Alt, a Mac's keyboard types other letters.
    const digit = event.altKey && !event.ctrlKey && /^Digit([1-9])$/.exec(event.code);
    if (digit) {
      const id = state.tabs[Number(digit[1]) - 1];
      if (id) held(() => app.go({ name: 'session', id }));
      return;
    }
    if (event.altKey && !event.ctrlKey && (event.key === 'ArrowUp' || event.key === 'ArrowDown') && state.route.id) {
      return held(() =>
        app.frames.tell(state.route.id ?? '', { type: 'prompt', step: event.key === 'ArrowUp' ? -1 : 1 }),
      );
    }
    if (event.altKey && event.code === 'KeyW' && state.route.id) return held(() => closeTab(app, state.route.id ?? ''));
    if (event.metaKey || event.ctrlKey || event.altKey || target.closest(TYPED)) return;
    const now = Date.now();
    if (event.key === 'g') went = now;
    else if (event.key === 'i' && now - went < 1000) held(() => app.go({ name: 'inbox' }));
    else if (event.key === 'n' && mayStart(state))
      held(() => {
        app.go({ name: 'start' });
        document.getElementById('task')?.focus();
      });
    else if (event.key === '?') held(does.keys);
    else if (state.route.name === 'inbox' && event.key === 'j') held(() => does.inbox(1));
    else if (state.route.name === 'inbox' && event.key === 'k') held(() => does.inbox(-1));
    else if (state.route.name === 'inbox' && event.key === 'o' && state.inboxPick)
      held(() => app.go({ name: 'session', id: state.inboxPick?.split('/')[0] }));
  });
}
