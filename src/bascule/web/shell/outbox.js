/**
 * Messages on their way out: kept while the connection is lost, sent in their order, each exactly once. One that the
 * server refuses goes back to where it was written.
 */

import { draftOf, keepDraft } from './storage.js';

/** @typedef {import('../js/store.js').Store<import('./state.js').State>} Store */
/** @typedef {import('../js/api.js').Api} Api */
/** @typedef {import('./state.js').Held} Held */

/**
 * @param {Store} store
 * @param {Api} api
 * @param {(error: unknown) => void} trouble
 * @param {ReturnType<typeof import('../js/events.js').createEvents>['emit']} emit
 */
export function createOutbox(store, api, trouble, emit) {
  let sending = false;
  async function sendHeld() {
    if (sending) return;
    sending = true;
    try {
      for (let held = store.get().held[0]; held; held = store.get().held[0]) {
        const { key, sessionId, text, images, prompts = [] } = held;
        try {
          await api.send(sessionId, { text, images, clientMessageId: key, key });
          store.set((state) => ({ held: state.held.filter((message) => message.key !== key) }));
          for (const prompt of prompts) emit('promptSent', { ...prompt, sessionId });
        } catch (error) {
          if (/** @type {{code?: string}} */ (error).code === 'OFFLINE') throw error;
          giveBack(sessionId);
          trouble(error);
        }
      }
    } catch {
      // Not connected: they wait for the next time.
    } finally {
      sending = false;
    }
  }

  /**
   * With those written after it, which would only overtake it.
   * @param {string} sessionId
   */
  function giveBack(sessionId) {
    const refused = store.get().held.filter((message) => message.sessionId === sessionId);
    keepDraft(sessionId, [...refused.map((message) => message.text), draftOf(sessionId)].filter(Boolean).join('\n\n'));
    store.set((state) => ({ held: state.held.filter((message) => message.sessionId !== sessionId) }));
    emit('givenBack', { id: sessionId, images: refused.flatMap((message) => message.images) });
  }

  return sendHeld;
}
