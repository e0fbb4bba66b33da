/** What a task must be before it can be sent. Pure. */

const MAX_TYPED = 10_000; // characters
const MAX_TASK = 1_048_576; // the same, with a long prompt that goes with it

/** @param {string} text */
const lengthOf = (text) => Array.from(text).length;

/**
 * What is written, and after it the long prompt that goes with it, as it came.
 * @param {string} typed
 * @param {string} long
 */
export const wholeTask = (typed, long) => [typed.trim(), long].filter(Boolean).join('\n\n');

/**
 * What keeps a task from being sent, in words; empty when nothing does.
 * @param {string} typed
 * @param {string} [long] a prompt that goes with it
 */
export function taskProblem(typed, long = '') {
  const length = lengthOf(typed.trim());
  if (!length && !long) return 'Describe the task first.';
  if (length > MAX_TYPED)
    return (
      `${length.toLocaleString()} of ${MAX_TYPED.toLocaleString()} characters. ` +
      'Put the rest in a file and mention it here.'
    );
  const whole = long ? lengthOf(wholeTask(typed, long)) : 0;
  return whole > MAX_TASK
    ? `${whole.toLocaleString()} of ${MAX_TASK.toLocaleString()} characters, with the long prompt.`
    : '';
}

/** @param {string} text */
export const isTooLong = (text) => text.trim().length > MAX_TYPED;
