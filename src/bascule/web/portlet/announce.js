/** What a screen reader hears: each block once it is finished, and what needs attention; never single tokens. Pure. */

const MAX_CHARACTERS = 600;

/**
 * @param {import('../js/reduce.js').Transcript} state
 * @returns {string} empty when nothing was finished
 */
export function announced({ entries, changed }) {
  const touched = new Set(changed);
  return entries
    .filter((entry) => touched.has(entry.first_seq))
    .map(words)
    .filter(Boolean)
    .join('. ')
    .slice(0, MAX_CHARACTERS);
}

/**
 * @param {import('../js/types.d.ts').Entry} entry
 * @returns {string}
 */
function words(entry) {
  switch (entry.kind) {
    case 'text':
      return entry.voice === 'assistant' && !entry.open && !entry.parent ? entry.text.replace(/[*_`#>|]/g, '') : '';
    case 'tool':
      return entry.status === 'failed' ? `${entry.title} failed` : '';
    case 'turn':
      return entry.ended.stop_reason === 'error' ? 'The agent stopped with an error' : '';
    case 'event':
      return entry.event.type === 'session_ended' ? 'Session ended' : '';
    default:
      return '';
  }
}
