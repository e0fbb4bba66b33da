/** The page's state: one object, replaced by parts, sent to those who draw at most once a frame. */

/**
 * @template {object} S
 * @typedef {{
 *   get: () => S,
 *   set: (patch: Partial<S> | ((state: S) => Partial<S>)) => void,
 *   flush: () => void,
 *   subscribe: (listener: (now: S, before: S) => void) => () => void,
 * }} Store
 */

/**
 * @template {object} S
 * @param {S} initial
 * @returns {Store<S>}
 */
export function createStore(initial) {
  let state = initial;
  let shown = initial;
  let waiting = false;
  /** @type {Set<(now: S, before: S) => void>} */
  const listeners = new Set();

  function tell() {
    waiting = false;
    const before = shown;
    shown = state;
    for (const listener of listeners) {
      try {
        listener(shown, before);
      } catch (error) {
        reportError(error); // one part that can't draw keeps no other from drawing
      }
    }
  }

  return {
    get: () => state,
    /** @param {Partial<S> | ((state: S) => Partial<S>)} patch */
    set(patch) {
      state = { ...state, ...(typeof patch === 'function' ? patch(state) : patch) };
      if (waiting) return;
      waiting = true;
      // Not an animation frame: the title and favicon count in hidden tabs, too.
      setTimeout(tell, 16);
    },
    /** Draw now: for what a person just did. */
    flush() {
      if (waiting) tell();
    },
    /** @param {(now: S, before: S) => void} listener */
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/**
 * Resolves as soon as the state is so.
 * @template {object} S
 * @param {Store<S>} store
 * @param {(state: S) => boolean} isSo
 * @returns {Promise<void>}
 */
export const until = (store, isSo) =>
  new Promise((done) => {
    if (isSo(store.get())) return done();
    const stop = store.subscribe((now) => {
      if (!isSo(now)) return;
      stop();
      done();
    });
  });
