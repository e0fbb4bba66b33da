/** The prompts of the library as this page knows them: read when somebody first needs them, and when one changes. */

import { isGuest } from '../state.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../../js/types.d.ts').PromptView} Prompt */

const PAUSE = 100; // milliseconds: several changes are one look

/** @param {App} app */
export function knownPrompts(app) {
  let wanted = false;
  /** @type {Promise<void> | null} */
  let loading = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let waiting;

  async function load() {
    const { me, line } = app.store.get();
    if (line.phase !== 'live' || isGuest(app.store.get()) || me?.role === 'session') return;
    try {
      const { prompts } = await app.feed.call('prompts:list', {});
      app.store.set({ prompts });
    } catch (error) {
      if (/** @type {{code?: string}} */ (error).code !== 'OFFLINE') app.trouble(error);
    }
  }

  app.events.on('prompts:changed', () => {
    clearTimeout(waiting);
    if (wanted) waiting = setTimeout(() => void load(), PAUSE);
  });
  app.store.subscribe((now, before) => {
    if (wanted && now.line.phase === 'live' && before.line.phase !== 'live') void load();
  });
  return {
    /** From now on they are kept up to date. */
    async ensure() {
      if (!wanted || !app.store.get().prompts) {
        if (!wanted || !loading) loading = load();
        wanted = true;
        await loading;
        loading = null;
      }
      return app.store.get().prompts;
    },
  };
}

/**
 * Prompts that can be used, favourites first, then by name.
 * @param {Prompt[] | null} prompts
 * @param {string} [text] that their title or a tag must hold
 */
export function usable(prompts, text = '') {
  const wanted = text.trim().toLowerCase();
  return (prompts ?? [])
    .filter((prompt) => prompt.kind === 'prompt' && [prompt.title, ...prompt.tags].some((name) => holds(name, wanted)))
    .sort((a, b) => Number(b.favourite) - Number(a.favourite) || a.title.localeCompare(b.title));
}

/**
 * @param {string} name
 * @param {string} wanted
 */
const holds = (name, wanted) => name.toLowerCase().includes(wanted);
