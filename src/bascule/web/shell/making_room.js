/** As many agents work as may: the server names one whose end would make room, and it is ended first. */

import { fieldsOf } from '../js/json.js';
import { visible } from '../js/visible.js';
import { waited } from '../js/format.js';
import { isOver } from './sessions.js';

/** @typedef {import('./app.js').App} App */
/** @typedef {{sessionId: string, title: string, idleSeconds: number}} Offer */

/**
 * @param {unknown} error
 * @returns {Offer | undefined}
 */
export function offerOf(error) {
  const { sessionId, title, idleSeconds } = fieldsOf(fieldsOf(fieldsOf(error).fields).offer);
  if (typeof sessionId !== 'string') return undefined;
  return { sessionId, title: String(title ?? ''), idleSeconds: Number(idleSeconds) || 0 };
}

/**
 * Whose end would make room, and how long it has been quiet.
 * @param {Offer} offer
 * @param {string} then
 */
export function offerWords({ title, idleSeconds }, then) {
  const quiet = idleSeconds >= 10 ? ` (quiet for ${waited(idleSeconds * 1000)})` : '';
  return `End ${title ? `“${visible(title)}”` : 'the oldest'}${quiet} and ${then}`;
}

/**
 * End a session and wait until it is over.
 * @param {App} app
 * @param {string} id
 */
export async function endFirst(app, id) {
  await app.api.end(id);
  await new Promise((resolve) => {
    const look = () => {
      const session = app.store.get().sessions[id];
      if (session && !isOver(session)) return;
      leave();
      resolve(null);
    };
    const leave = app.store.subscribe(look);
    look();
  });
}

/**
 * Bring a session back; where there is no room, offer whose end would make it.
 * @param {App} app
 * @param {string} id
 */
export function resume(app, id) {
  app.api.resume(id).catch((error) => {
    const offer = offerOf(error);
    if (!offer) return app.trouble(error);
    const run = () =>
      void endFirst(app, offer.sessionId)
        .then(() => app.api.resume(id))
        .catch(app.trouble);
    app.note(error.message, { tone: 'bad', action: { label: offerWords(offer, 'resume'), run } });
  });
}
