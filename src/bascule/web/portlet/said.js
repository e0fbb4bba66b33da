/** What of an entry a reader can look for, as plain text. Pure; near to what the server's search reads. */

import { fieldsOf } from '../js/json.js';

/** @typedef {import('../js/types.d.ts').Entry} Entry */

const MAX_INPUT = 8000;

/**
 * @param {Entry} entry
 * @returns {string}
 */
export function textOf(entry) {
  switch (entry.kind) {
    case 'prompt':
      return entry.text;
    case 'text':
      return entry.text;
    case 'tool':
      return [
        entry.title,
        ...strings(entry.input),
        entry.output,
        ...entry.diffs.flatMap((diff) => [diff.path, diff.patch]),
      ].join('\n');
    case 'plan':
      return entry.items.map((item) => item.text).join('\n');
    case 'request':
      return asked(entry);
    case 'turn':
      return entry.ended.message ?? '';
    case 'event': {
      const { text, message, stderr_tail: tail, raw } = fieldsOf(entry.event);
      return [text, message, tail, raw].filter((one) => typeof one === 'string').join('\n');
    }
  }
}

/** @param {import('../js/types.d.ts').RequestEntry} entry */
function asked({ asked: request, answer }) {
  const questions = request.type === 'question_asked' ? request.questions : [];
  const answers = answer?.type === 'question_answered' ? (answer.answers ?? {}) : {};
  return [...questions.map((question) => question.question), ...Object.values(answers)].join('\n');
}

/**
 * @param {unknown} value
 * @returns {string[]}
 */
function strings(value) {
  if (typeof value === 'string') return [value.slice(0, MAX_INPUT)];
  return value && typeof value === 'object' ? Object.values(value).slice(0, 50).flatMap(strings) : [];
}

/**
 * Whether a reader would find it there, with or without Markdown's marks.
 * @param {Entry} entry
 * @param {string} low in small letters
 */
export function holds(entry, low) {
  const text = textOf(entry).toLowerCase();
  return text.includes(low) || (entry.kind === 'text' && text.replace(/[*_`~]/g, '').includes(low));
}

/**
 * The first numbers of the entries that hold a text, oldest first.
 * @param {Entry[]} entries
 * @param {string} text
 */
export const hitsIn = (entries, text) =>
  entries.filter((entry) => holds(entry, text.toLowerCase())).map((entry) => entry.first_seq);

/**
 * How often a text is there.
 * @param {Entry} entry
 * @param {string} text
 */
export function matchesIn(entry, text) {
  const low = text.toLowerCase();
  const all = textOf(entry).toLowerCase();
  return Math.max(all.split(low).length, entry.kind === 'text' ? all.replace(/[*_`~]/g, '').split(low).length : 0) - 1;
}
