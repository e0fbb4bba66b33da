/** What tools gave, read as far as its shape is known: numbered lines, matches, links, exit codes. Pure. */

import { fieldsOf } from '../js/json.js';

/** @typedef {{path: string, rows: {line: number | null, text: string}[]}} FileMatches */

const NUMBERED = /^\s*(\d+)(?:→|\t)(.*)$/;

/**
 * A file's lines with their numbers, when the tool wrote numbers before them or said where it began.
 * @param {string} output
 * @param {number | null} begins
 * @returns {{line: number | null, text: string}[]}
 */
export function fileLines(output, begins) {
  const rows = output.replace(/\n+$/, '').split('\n');
  const first = NUMBERED.exec(rows[0]);
  if (!first) return rows.map((text, n) => ({ line: begins === null ? null : begins + n, text }));
  return rows.map((row) => {
    const found = NUMBERED.exec(row);
    return found ? { line: Number(found[1]), text: found[2] } : { line: null, text: row };
  });
}

/**
 * Matches by file, or the files alone.
 * @param {string} output
 * @returns {{files: FileMatches[], matches: number} | null} null when it has neither shape
 */
export function searchResults(output) {
  const rows = output.split('\n').filter((row) => row.trim() && !/^(?:Found \d+ (?:files?|lines?)|--)/.test(row));
  if (!rows.length) return null;
  const parsed = rows.map((row) => /^((?:\/|\.{0,2}\/)?[^\s:][^:]*?):(\d+)[:-](.*)$/.exec(row));
  const found = parsed.filter((match) => match !== null);
  if (found.length >= rows.length * 0.8) {
    /** @type {Map<string, FileMatches>} */
    const files = new Map();
    for (const [, path, line, text] of found) {
      const file = files.get(path) ?? { path, rows: [] };
      file.rows.push({ line: Number(line), text });
      files.set(path, file);
    }
    return { files: [...files.values()], matches: found.length };
  }
  if (rows.every((row) => /^[^\s:][^:\n]*$/.test(row) && /[./]/.test(row) && row.length < 400)) {
    return { files: rows.map((path) => ({ path, rows: [] })), matches: 0 };
  }
  return null;
}

/**
 * The pages a web search named, and what else it said.
 * @param {string} output
 * @returns {{links: {title: string, url: string}[], rest: string}}
 */
export function webResults(output) {
  const at = output.indexOf('Links: [');
  const end =
    at < 0 ? -1 : output.indexOf(']\n', at) >= 0 ? output.indexOf(']\n', at) + 1 : output.lastIndexOf(']') + 1;
  if (at < 0 || end <= at) return { links: [], rest: output };
  try {
    /** @type {unknown[]} */
    const parsed = JSON.parse(output.slice(at + 'Links: '.length, end));
    const links = parsed
      .map(fieldsOf)
      .flatMap(({ title, url }) => (typeof url === 'string' ? [{ title: String(title ?? url), url }] : []));
    return { links, rest: output.slice(end).trim() };
  } catch {
    return { links: [], rest: output }; // cut off, or not what it looked like: shown as it is
  }
}

/**
 * What a failed command said it ended with.
 * @param {string} output
 * @returns {number | null}
 */
export function exitCode(output) {
  const found = /^(?:Error: )?(?:Command failed with )?exit(?:ed with)? code:? (\d+)/i.exec(output.trimStart());
  return found ? Number(found[1]) : null;
}

/**
 * The command of a call, also where it came as words.
 * @param {unknown} input
 * @param {string} title
 */
export function commandOf(input, title) {
  const { command: whole, cmd } = fieldsOf(input);
  const command = whole ?? cmd;
  if (typeof command === 'string' && command) return command;
  if (!Array.isArray(command)) return title;
  const words = command.map(String);
  const shell = words.length === 3 && /(?:^|\/)(?:ba|z|da)?sh$/.test(words[0]) && /^-l?c$/.test(words[1]);
  return shell ? words[2] : words.join(' ');
}

/**
 * JSON an MCP tool answered, laid out; else null.
 * @param {string} output
 */
export function laidOut(output) {
  if (!/^\s*[[{]/.test(output) || output.length > 100_000) return null;
  try {
    return JSON.stringify(JSON.parse(output), null, 2);
  } catch {
    return null; // only looked like it
  }
}

/**
 * What a person can do about the way a turn failed, in Bascule's words.
 * @param {string} said by the agent
 */
export function whatNext(said) {
  if (/not (?:logged|signed) in|log ?in|api.?key|authenticat|unauthori[sz]ed|\b401\b/i.test(said))
    return 'Sign in once in a terminal on that machine, then send your message again.';
  if (/rate.?limit|usage limit|quota|too many requests|\b429\b/i.test(said))
    return 'Its limit is used up for now. Wait a little, or choose another model, then send your message again.';
  if (/overloaded|\b5(?:00|02|03|29)\b|temporarily/i.test(said))
    return 'The service behind it is busy. Send your message again in a moment.';
  if (/context (?:length|window)|too long|too large|maximum context/i.test(said))
    return 'The conversation has grown too long for the model. Let the agent shorten it, or start a new session.';
  if (/network|connect|ENOTFOUND|ECONN|timed? ?out|DNS/i.test(said))
    return 'It could not reach its service. Check that machine’s connection, then send your message again.';
  return 'Send a message to let it try again.';
}
