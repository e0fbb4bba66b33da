/** What a terminal's foot says: who types, whose size counts, how it ended, what was left out. Pure. */

import { count, sizeWords } from '../../js/format.js';
import { LONGEST_LINE, byteLength, controlsIn, isManyLines, linesOf } from '../../terminal/pasted.js';

/**
 * @typedef {import('../../js/types.d.ts').TerminalSize} Arrangement
 * @typedef {{
 *   line: string,
 *   readOnly: boolean,
 *   typing: string,
 *   size: Arrangement | null,
 *   ended: import('../../js/types.d.ts').TerminalEnded | null,
 *   skipped: number,
 *   unread: number,
 * }} Foot
 */

/**
 * @param {Foot} foot
 * @returns {string}
 */
export function whoTypes(foot) {
  if (foot.line === 'refused') return 'This browser may no longer see this terminal.';
  if (foot.ended) return endWords(foot.ended);
  if (foot.line === 'lost') return 'Not connected. The program keeps running, and nothing is lost.';
  if (foot.unread)
    return `The program is not reading. ${sizeWords(foot.unread)} of what you typed waits until it does.`;
  if (foot.typing) return `${foot.typing} is typing`;
  if (foot.readOnly) return 'You’re following live. You can’t type here.';
  return '';
}

/**
 * @param {Foot} foot
 * @returns {string}
 */
export function whoseSize({ size, ended }) {
  if (!size || ended) return '';
  const sides = `${size.cols} × ${size.rows}`;
  if (size.rule === 'typing') return `${sides}, size follows whoever types`;
  if (size.owner || !size.by) return sides;
  return `${sides}, fits ${size.by}’s window`;
}

/** @param {{code: number | null, signal: number | null, reason: string | null, message: string | null}} ended */
export function endWords({ code, signal, reason, message }) {
  if (message) return message;
  if (reason === 'closed') return 'Ended. What it wrote is kept.';
  if (signal) return `Ended by signal ${signal}. What it wrote is kept.`;
  return code ? `Ended with exit code ${code}. What it wrote is kept.` : 'Ended. What it wrote is kept.';
}

/** @param {number} bytes */
export function skippedWords(bytes) {
  const amount =
    bytes < 1024 * 1024 ? `${Math.max(1, Math.round(bytes / 1024))} KB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`;
  return `${amount} came faster than this page could show it and were skipped. Scroll up to see what is kept.`;
}

/**
 * What a person is asked before a paste: how much of what, and what could go wrong.
 * @param {string} text
 * @returns {{title: string, notes: string[], yes: string}}
 */
export function pasteWords(text) {
  const lines = linesOf(text);
  const controls = controlsIn(text);
  const longest = lines.reduce((most, line) => Math.max(most, byteLength(line)), 0);
  const what =
    lines.length > 1 ? `${lines.length} lines` : isManyLines(text) ? 'a line that ends with Enter' : 'this line';
  return {
    title: `Paste ${what}${controls ? ` without ${count(controls, 'control character')}` : ''}?`,
    notes: [
      controls
        ? 'Control characters act like keys and can run commands by themselves. ' +
          'They are written out and marked here, and are left out.'
        : '',
      lines.length > 1 ? 'A shell may run each line at once.' : isManyLines(text) ? 'A shell may run it at once.' : '',
      longest > LONGEST_LINE
        ? `A line has ${longest.toLocaleString('en')} bytes. ` +
          `A program that reads line by line gets only the first ${LONGEST_LINE.toLocaleString('en')}.`
        : '',
    ].filter(Boolean),
    yes: controls ? 'Paste without them' : 'Paste',
  };
}
