/** Keys that work anywhere. Single letters only outside text fields. */

import { control } from './parts.js';
import { closeTab } from './tabs.js';

/** @typedef {import('./app.js').App} App */

/**
 * @param {App} app
 * @param {{palette: () => void, keys: () => void, ask: () => void, find: () => void, inbox: (by: number) => void}} does
 */
export function listenForKeys(app, does) {
  let went = 0;
  addEventListener('keydown', (event) => {
    const target = event.target instanceof Element ? event.target : document.body;
    const state = app.store.get();
    const held = (/** @type {() => void} */ run) => {
      event.preventDefault();
      run();
    };
    if (control(event) && !event.altKey) {
      if (event.key === 'k') held(does.palette);
      else if (event.key === 'b') held(() => app.store.set({ side: !state.side }));
      else if (event.key === 'j') held(() => app.store.set({ panel: !state.panel }));
      else if (event.key === '.') held(does.ask);
      else if (event.key === 'i') held(() => document.getElementById(state.route.name === 'start' ? 'task' : 'message')?.focus());
      else if (event.key === 'f' && state.route.name === 'session') held(does.find);
      return;
    }
    if (event.altKey && /^[1-9]$/.test(event.key)) {
      const id = state.tabs[Number(event.key) - 1];
      if (id) held(() => app.go({ name: 'session', id }));
      return;
    }
    if (event.altKey && event.key === 'w' && state.route.id) return held(() => closeTab(app, state.route.id ?? ''));
    if (event.metaKey || event.ctrlKey || event.altKey || target.closest('input, textarea, select, [role=dialog], [role=menu], .ask')) return;
    const now = Date.now();
    if (event.key === 'g') went = now;
    else if (event.key === 'i' && now - went < 1000) held(() => app.go({ name: 'inbox' }));
    else if (event.key === 'n') held(() => { app.go({ name: 'start' }); document.getElementById('task')?.focus(); });
    else if (event.key === '?') held(does.keys);
    else if (state.route.name === 'inbox' && event.key === 'j') held(() => does.inbox(1));
    else if (state.route.name === 'inbox' && event.key === 'k') held(() => does.inbox(-1));
    else if (state.route.name === 'inbox' && event.key === 'o' && state.inboxPick) held(() => app.go({ name: 'session', id: state.inboxPick?.split('/')[0] }));
  });
}
