/** What the page says for a moment: notes and trouble; and copying. */

/** @typedef {import('../js/store.js').Store<import('./state.js').State>} Store */

/**
 * Said aloud for people who can't see it.
 * @param {string} text
 */
function say(text) {
  const place = document.getElementById('status');
  if (place) place.textContent = text;
}

/** @param {Store} store */
export function createNotices(store) {
  let noteNumber = 0;
  /**
   * @param {string} text
   * @param {{tone?: string, action?: {label: string, run: () => void}, stay?: boolean}} [more]
   */
  function note(text, more = {}) {
    const id = ++noteNumber;
    store.set((state) => ({ notes: [...state.notes.slice(-2), { id, text, tone: more.tone, action: more.action }] }));
    // A button needs longer than a word: it has to be read, reached and pressed.
    if (!more.stay) setTimeout(() => dropNote(id), more.action ? 30_000 : 6000);
  }
  /** @param {number} id */
  const dropNote = (id) => store.set((state) => ({ notes: state.notes.filter((otherNote) => otherNote.id !== id) }));

  /** @param {unknown} error */
  const trouble = (error) =>
    note(/** @type {Error} */ (error).message || 'That did not work. Try again.', { tone: 'bad' });

  /**
   * @param {string} text
   * @returns {Promise<boolean>} whether it is in the clipboard; the button that was pressed says so
   */
  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const why = window.isSecureContext ? 'did not let us copy' : 'copies only over https; select the text instead';
      note(`The browser ${why}.`, { tone: 'bad' });
      return false;
    }
    say('Copied.');
    return true;
  }

  return { note, dropNote, trouble, copy };
}
