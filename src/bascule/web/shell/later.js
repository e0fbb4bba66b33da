/** Parts that nobody sees at first: their modules come when they are wanted, or once the page stands. */

/** @typedef {import('./app.js').App} App */
/** @typedef {import('./state.js').State} State */

const STANDS_MS = 400;

/** Ends when it is there. @param {App} app @param {(state: State) => boolean} wanted @param {() => Promise<void>} bring */
export const later = (app, wanted, bring) => new Promise((/** @type {(value?: unknown) => void} */ there) => {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const begin = () => {
    stop();
    clearTimeout(timer);
    bring().then(there, () => app.note('A part of this page did not load.', { tone: 'bad', stay: true, action: { label: 'Reload', run: () => location.reload() } }));
  };
  /** @param {State} state */
  const look = (state) => {
    if (wanted(state)) begin();
    else if (state.loaded) timer ??= setTimeout(begin, STANDS_MS);
  };
  const stop = app.store.subscribe(look);
  look(app.store.get());
});
