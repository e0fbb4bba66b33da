/** What a text does when it is pasted into a terminal, and what must never get there with it. Pure. */

// Escape sequences, in 7 or 8 bits, begin with one of these; others are keys a shell acts on. Tab and line ends stay.
const CONTROLS = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/g;

// A program that reads line by line gets at most this much of one line from the kernel; the rest is thrown away.
export const LONGEST_LINE = 4095;
export const MAX_PASTED = 1024 * 1024; // bytes

/**
 * Does it hold more than one line, so that a shell would run some of it at once?
 * @param {string} text
 */
export const isManyLines = (text) => /[\r\n]./s.test(text.replace(/\r\n/g, '\n')) || /[\r\n]$/.test(text);

/** @param {string} text */
export const controlsIn = (text) => text.match(CONTROLS)?.length ?? 0;

/**
 * The text without anything that could end a bracketed paste or act as a key.
 * @param {string} text
 */
export const withoutControls = (text) => text.replace(CONTROLS, '');

/** @param {string} text */
export const byteLength = (text) => new TextEncoder().encode(text).length;

/**
 * Must a person see it before it is pasted?
 * @param {string} text
 */
export const needsAsking = (text) => isManyLines(text) || controlsIn(text) > 0 || text.length * 3 > MAX_PASTED;

/**
 * As lines, however they ended.
 * @param {string} text
 */
export const linesOf = (text) => text.replace(/\r\n?/g, '\n').replace(/\n$/, '').split('\n');

/**
 * The text of a paste, from what a terminal made of it.
 * @param {Uint8Array} keys
 */
export const textOf = (keys) =>
  new TextDecoder()
    .decode(keys)
    .replace(/^\x1b\[200~|\x1b\[201~$/g, '')
    .replace(/\r/g, '\n');
