/**
 * Events: what happens once, for all who listen; what lasts is in the store. The server's pushes come under their
 * own type (`session:events`, `compare:changed`), the page's own events under the names below.
 */

/**
 * @typedef {object} PageEvents
 * @property {string} mention a path to be named in the message
 * @property {import('../shell/sessions.js').Place} startFolder the folder in which the next session starts
 * @property {import('./types.d.ts').OfferedPrompt} startPrompt a web page's prompt for the next session
 * @property {{count: number, at: number, looking?: boolean}} findResult of the search in the transcript in view
 * @property {string} shortcut a letter pressed with Ctrl in a frame
 * @property {string} rename the session whose title is typed next, in its bar
 * @property {null} needPrompts somebody is about to look for one
 * @property {string} keepPrompt a text that goes into the prompt library
 * @property {{id: string, insert: import('../shell/composer/composer.js').Insert | null}} usePrompt a prompt to be used
 * @property {{promptId: string, version: number, sessionId: string}} promptSent of the library, in a message
 * @property {{id: string, images: import('./types.d.ts').SentImage[]}} givenBack a refused message is a draft again
 * @property {{id: string, images: import('./types.d.ts').SentImage[]}} edit an earlier message is in the composer
 * @property {string} insertPrompt a prompt to be put into the message
 * @property {null} write the focus goes to where a person writes next
 */

/**
 * @typedef {import('./types.d.ts').Push} Push
 * @typedef {PageEvents & {[Type in Push['type']]: Extract<Push, {type: Type}>}} AllEvents
 */

export function createEvents() {
  /** @type {Map<string, Set<(detail: never) => void>>} */
  const listeners = new Map();
  return {
    /**
     * @template {keyof AllEvents} N
     * @param {N} name
     * @param {(detail: AllEvents[N]) => void} listener
     */
    on(name, listener) {
      const those = listeners.get(name) ?? new Set();
      listeners.set(name, those.add(listener));
    },
    /**
     * @template {keyof AllEvents} N
     * @param {N} name
     * @param {AllEvents[N]} detail
     */
    emit(name, detail) {
      const those = /** @type {Set<(detail: AllEvents[N]) => void> | undefined} */ (listeners.get(name));
      for (const listener of those ?? []) {
        try {
          listener(detail);
        } catch (error) {
          reportError(error); // one part that fails keeps no other from hearing
        }
      }
    },
  };
}
