/** Keys that work anywhere. Single letters only outside text fields. */

import { table } from '../../js/tables.js';
import { control } from '../parts.js';
import { mayStart } from '../state.js';
import { printSession } from '../session/exporting.js';
import { closeTab } from '../session/tabs.js';

/** @typedef {import('../app.js').App} App */

const CALM = 2000; // milliseconds: a letter amid others is typing, wherever the focus went meanwhile
const TYPED = 'input, textarea, select, [contenteditable], [role=dialog], [role=menu], .request';

/**
 * @param {App} app
 * @param {{palette: () => void, keys: () => void, ask: () => void, find: () => void, inbox: (by: number) => void}} does
 */
export function listenForKeys(app, does) {
  let went = -Infinity; // when G was pressed
  let typed = -Infinity; // when any letter was
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
    p: () => void printSession(app, app.store.get().route.id ?? ''),
  });
  // These belong to a session; elsewhere the browser's own are meant.
  const shortcut = (/** @type {string} */ key) => {
    const { route, sessions } = app.store.get();
    const chat = route.name === 'session' && sessions[route.id ?? '']?.driver !== 'terminal';
    return (key === 'f' && route.name !== 'session') || (key === 'p' && !chat) ? undefined : shortcuts[key];
  };
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
    if (event.key === 'F2' && !event.defaultPrevented && state.route.name === 'session' && state.route.id)
      return held(() => app.events.emit('rename', state.route.id ?? ''));
    if (event.metaKey || event.ctrlKey || event.altKey || event.key.length > 1) return;
    if (target.closest(TYPED) || event.defaultPrevented || !letter(event, held)) typed = event.timeStamp;
  });

  /**
   * @param {KeyboardEvent} event
   * @param {(run: () => void) => void} held
   * @returns {boolean} whether it stands for anything here
   */
  function letter({ key, timeStamp }, held) {
    const state = app.store.get();
    const calm = timeStamp - typed > CALM;
    const inbox = state.route.name === 'inbox';
    if (key === 'i' && timeStamp - went < 1000) held(() => app.go({ name: 'inbox' }));
    else if (key === 'g' && calm) went = timeStamp;
    else if (key === 'n' && calm && mayStart(state)) held(() => app.go({ name: 'start' }));
    else if (key === '?') held(does.keys);
    else if (inbox && key === 'j') held(() => does.inbox(1));
    else if (inbox && key === 'k') held(() => does.inbox(-1));
    else if (inbox && key === 'o' && state.inboxPick)
      held(() => app.go({ name: 'session', id: state.inboxPick?.split('/')[0] }));
    else return false;
    return true;
  }
}
