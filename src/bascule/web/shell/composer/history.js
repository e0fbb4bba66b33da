/** What was sent before in a session, brought back into an empty field with the arrow keys. */

/** @typedef {import('../app.js').App} App */

const ENTRIES = 200;

/**
 * @param {App} app
 * @param {HTMLTextAreaElement} area
 * @param {() => void} changed
 */
export function recall(app, area, changed) {
  /** @type {string[]} newest last */
  let texts = [];
  let at = -1; // how far back; -1 is the field as it was
  let shown = '';

  /** @param {string} id */
  async function learn(id) {
    // Not connected: nothing is brought back.
    const page = await app.api.entries(id, { limit: ENTRIES }).catch(() => null);
    texts = (page?.entries ?? []).filter((entry) => entry.kind === 'prompt').map((entry) => entry.text);
  }

  /** @param {number} step */
  function move(step) {
    at = Math.max(-1, Math.min(texts.length - 1, at + step));
    shown = at < 0 ? '' : texts[texts.length - 1 - at];
    area.value = shown;
    area.setSelectionRange(shown.length, shown.length);
    changed();
  }

  return {
    /**
     * @param {KeyboardEvent} event
     * @param {string} id
     * @returns {boolean} whether it was for the past
     */
    key(event, id) {
      if (area.value === '') at = -1;
      const mine = area.value === '' || (at >= 0 && area.value === shown);
      if (!mine || event.shiftKey || event.altKey || event.ctrlKey || event.metaKey) return false;
      if (event.key === 'ArrowUp' && at >= 0) move(1);
      else if (event.key === 'ArrowUp')
        void learn(id).then(() => {
          if (area.value === '') move(1);
        });
      else if (event.key === 'ArrowDown' && at >= 0) move(-1);
      else return false;
      return true;
    },
    forget() {
      at = -1;
    },
  };
}
