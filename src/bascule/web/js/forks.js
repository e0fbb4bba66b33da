/** Where a copy of a conversation can end: just before a message that is edited. Pure, imports nothing. */

/**
 * The point just before a prompt. `of` is the conversation to copy (null: this session's own), `at` the last turn that
 * is copied; both null: there is nothing before it.
 * @typedef {{of: string | null, at: string | null}} Point
 */

/**
 * @param {import('./types.d.ts').Entry[]} entries
 * @param {number} place of the prompt among them
 * @param {number} after turns up to this number can't be gone back to
 * @returns {Point | null | undefined} null: there is no such point; undefined: these entries don't tell
 */
export function pointBefore(entries, place, after) {
  for (let n = place - 1; n >= 0; n--) {
    const entry = entries[n];
    if (entry.kind === 'prompt') return null; // its turn never ended, so its agent gave it no id
    if (entry.kind === 'turn')
      return entry.ended.fork_at && entry.first_seq > after ? { of: null, at: entry.ended.fork_at } : null;
    if (entry.kind === 'event' && entry.first_seq === 1) return beginning(entry.event);
  }
  return undefined;
}

/**
 * A session that began as a copy can begin so again; of one that took up a conversation nobody knows how long it was.
 * @param {import('./types.d.ts').EventEntry['event']} started
 * @returns {Point | null}
 */
function beginning(started) {
  if (started.type !== 'session_started') return null;
  const { resumed_from: of = null, forked_at: at = null } = started;
  return of && !at ? null : { of, at };
}
