/** A transcript in a column: a frame of its own that is fed what the page already follows. */

import { Frames } from '../frames/frames.js';
import { ownNames } from '../sessions.js';
import { mayStart } from '../state.js';

const PAGE = 50;

/**
 * @param {import('../app.js').App} app
 * @param {HTMLElement} place
 * @param {(id: string) => void} opened from then on every event is heard
 */
export function columnFrame(app, place, opened) {
  const frames = new Frames(
    place,
    {
      // No answer is one too: the frame asks again on the next scroll.
      more: (id, at, number) =>
        void app.api.entries(id, { ...at, limit: PAGE }).then(
          (page) => frames.page(id, number, page),
          () => frames.page(id, number, null),
        ),
      search: (id, text) => frames.hits(id, text, null),
      branch: () => undefined,
      edit: () => undefined,
      source: () => undefined,
      keep: (text) => app.events.emit('keepPrompt', text),
      link: (href, at) => app.openLink(href, at),
      copy: (text) => app.copy(text),
      changes: (id) => app.go({ name: 'session', id }),
      file: () => undefined, // there is no panel beside it
      key: () => undefined,
      found: () => undefined,
    },
    () => app.store.get().theme,
    () => ownNames(app.store.get()),
    () => false,
    () => mayStart(app.store.get()),
  );
  frames.mayFiles = () => false;
  /** How far each frame is; null while its page is being read. @type {Map<string, number | null>} */
  const reached = new Map();
  /** What came meanwhile. @type {Map<string, import('../../js/types.d.ts').Logged[]>} */
  const waiting = new Map();
  /** @type {string | null} */
  let shown = null;

  /**
   * @param {string} id
   * @param {import('../../js/types.d.ts').Logged[]} entries
   */
  function take(id, entries) {
    const at = reached.get(id);
    if (at === undefined) return;
    if (at === null) {
      waiting.set(id, [...(waiting.get(id) ?? []), ...entries]);
      return;
    }
    const fresh = entries.filter((one) => one.seq > at);
    if (!fresh.length) return;
    reached.set(id, fresh[fresh.length - 1].seq);
    frames.events(id, fresh);
  }

  /**
   * The page follows the session first, so that nothing can fall between what is read here and what comes.
   * @param {string} id
   */
  async function open(id) {
    reached.set(id, null);
    try {
      const page = await app.api.open(id, { limit: PAGE });
      frames.opened(id, page);
      reached.set(id, page.seq);
      take(id, waiting.get(id) ?? []);
      waiting.delete(id);
      opened(id);
    } catch {
      reached.delete(id); // tried again with the next drawing
    }
  }

  app.events.on('session:events', ({ sessionId, entries }) => take(sessionId, entries));
  app.store.subscribe((now, before) => {
    if (now.theme !== before.theme) frames.tellAll({ type: 'theme', theme: now.theme });
  });

  return {
    /** @param {string | null} id */
    show(id) {
      if (id !== shown) {
        if (shown !== null) {
          frames.forget(shown);
          reached.delete(shown);
          waiting.delete(shown);
        }
        shown = id;
        if (id !== null) frames.ensure(id);
        frames.show(id);
      }
      if (id === null) return;
      app.live.ensure(id);
      if (app.live.seqs.has(id) && !reached.has(id)) void open(id);
    },
  };
}
