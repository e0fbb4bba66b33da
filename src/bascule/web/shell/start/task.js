/** What a task must be before it can be sent. Pure. */

const MAX_CHARACTERS = 10_000;

/** @param {string} text */
const lengthOf = (text) => Array.from(text.trim()).length;

/**
 * What keeps a task from being sent, in words; empty when nothing does.
 * @param {string} text
 */
export function taskProblem(text) {
  const length = lengthOf(text);
  if (!length) return 'Describe the task first.';
  return length > MAX_CHARACTERS
    ? `${length.toLocaleString()} of ${MAX_CHARACTERS.toLocaleString()} characters. ` +
        'Put the rest into a file, and name it.'
    : '';
}

/** @param {string} text */
export const isTooLong = (text) => text.trim().length > MAX_CHARACTERS;
