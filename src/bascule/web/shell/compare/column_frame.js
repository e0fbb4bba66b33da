/** A transcript in a column: a frame of its own that is fed what the page already follows. */

import { Frames } from '../frames/frames.js';
import { ownNames } from '../sessions.js';
import { mayStart } from '../state.js';
import { FrameProgress } from './frame_progress.js';

const PAGE = 50;

/** @typedef {import('../../js/types.d.ts').Logged} Logged */

/**
 * @param {import('../app.js').App} app
 * @param {HTMLElement} place
 * @param {(id: string) => void} opened from then on every event is heard
 */
export function columnFrame(app, place, opened) {
  /** @type {Frames} */
  const frames = new Frames(
    place,
    callsOf(app, () => frames),
    () => app.store.get().theme,
    () => ownNames(app.store.get()),
    () => false,
    () => mayStart(app.store.get()),
  );
  frames.mayFiles = () => false;
  const progress = new FrameProgress();
  /** @type {string | null} */
  let shown = null;

  /**
   * @param {string} id
   * @param {Logged[]} fresh
   */
  function feed(id, fresh) {
    if (fresh.length) frames.events(id, fresh);
  }

  /**
   * The page follows the session first, so that nothing can fall between what is read here and what comes.
   * @param {string} id
   */
  async function open(id) {
    progress.begin(id);
    try {
      const page = await app.api.open(id, { limit: PAGE });
      frames.opened(id, page);
      feed(id, progress.read(id, page.seq));
      opened(id);
    } catch {
      progress.forget(id); // tried again with the next drawing
    }
  }

  app.events.on('session:events', ({ sessionId, entries }) => feed(sessionId, progress.fresh(sessionId, entries)));
  app.store.subscribe((now, before) => {
    if (now.theme !== before.theme) frames.tellAll({ type: 'theme', theme: now.theme });
  });

  return {
    /** @param {string | null} id */
    show(id) {
      if (id !== shown) {
        if (shown !== null) {
          frames.forget(shown);
          progress.forget(shown);
        }
        shown = id;
        if (id !== null) frames.ensure(id);
        frames.show(id);
      }
      if (id === null) return;
      app.live.ensure(id);
      if (app.live.seqs.has(id) && !progress.has(id)) void open(id);
    },
  };
}

/**
 * What a frame asks of the page. In a column much of it is offered nowhere.
 * @param {import('../app.js').App} app
 * @param {() => Frames} frames
 * @returns {ConstructorParameters<typeof Frames>[1]}
 */
const callsOf = (app, frames) => ({
  // No answer is one too: the frame asks again on the next scroll.
  more: (id, at, number) =>
    void app.api.entries(id, { ...at, limit: PAGE }).then(
      (page) => frames().page(id, number, page),
      () => frames().page(id, number, null),
    ),
  search: (id, text) => frames().hits(id, text, null),
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
});
