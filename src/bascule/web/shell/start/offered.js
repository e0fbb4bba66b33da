/** A prompt from a web page, handed over by the launch window: it is put into the start screen and starts nothing. */

import { visible } from '../../js/visible.js';

/**
 * @param {import('../app.js').App} app
 * @param {string} offer its id
 */
export function mountOffered(app, offer) {
  app.store.set({ route: { name: 'start' } });
  const stop = app.store.subscribe((state) => {
    if (state.line.phase !== 'live') return;
    stop();
    app.api.offered(offer).then((offered) => {
      app.events.emit('startPrompt', offered);
      app.note(`This prompt comes from ${visible(offered.origin)}. Read it, then press Start.`, { stay: true });
    }, app.trouble);
  });
}
