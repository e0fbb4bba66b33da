/** Drafts of prompts in this browser: what was typed and not saved survives a reload and a lost connection. */

import { readDraft } from './draft.js';

const NAME = 'bascule.prompt.';

/** @param {string} id of a prompt, `new`, or a scratch pad's */
export const keptDraft = (id) => readDraft(localStorage.getItem(NAME + id));

/**
 * @param {string} id
 * @param {import('./draft.js').Draft | null} draft
 * @returns {boolean} false when the browser has no room for it
 */
export function keepDraft(id, draft) {
  try {
    if (draft) localStorage.setItem(NAME + id, JSON.stringify(draft));
    else localStorage.removeItem(NAME + id);
    return true;
  } catch {
    return false;
  }
}

/** The ids of everything that was typed and not saved. */
export const draftIds = () =>
  Object.keys(localStorage)
    .filter((name) => name.startsWith(NAME))
    .map((name) => name.slice(NAME.length));
