/** Messages on their way out: kept while the connection is lost, sent in their order, each exactly once. */

/** @typedef {import('../js/store.js').Store<import('./state.js').State>} Store */
/** @typedef {import('../js/api.js').Api} Api */

/**
 * @param {Store} store
 * @param {Api} api
 * @param {(error: unknown) => void} trouble
 */
export function createOutbox(store, api, trouble) {
  let sending = false;
  async function sendHeld() {
    if (sending) return;
    sending = true;
    try {
      for (let held = store.get().held[0]; held; held = store.get().held[0]) {
        const { key, sessionId, text, images } = held;
        await api.send(sessionId, { text, images, clientMessageId: key, key }).catch((error) => {
          if (error.code === 'OFFLINE') throw error;
          trouble(error);
        });
        store.set((state) => ({ held: state.held.filter((one) => one.key !== key) }));
      }
    } catch {
      // Not connected: they wait for the next time.
    } finally {
      sending = false;
    }
  }

  return sendHeld;
}
