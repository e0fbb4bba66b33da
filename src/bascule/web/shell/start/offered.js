/** A prompt from a web page, handed over by the launch window: it is put into the start screen and starts nothing. */

import { keptOffer } from '../storage.js';

/**
 * @param {import('../app.js').App} app
 * @param {string | null} came the id of one that has just come; one that was long is asked for again after a reload
 */
export function mountOffered(app, came) {
  const offer = came ?? keptOffer.get();
  if (!offer) return;
  keptOffer.set(offer);
  if (came) app.store.set({ route: { name: 'start' } });
  const stop = app.store.subscribe((state) => {
    if (state.line.phase !== 'live') return;
    stop();
    app.api.offered(offer).then(
      (offered) => app.events.emit('startPrompt', offered),
      (error) => {
        if (error.code !== 'OFFLINE') keptOffer.drop();
        app.trouble(error);
      },
    );
  });
}
