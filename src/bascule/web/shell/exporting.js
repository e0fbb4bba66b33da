/** A session as a file: Markdown to read, JSON to keep. Made here, from the same pages the transcript is read from. */

import { filled } from '../js/reduce.js';
import { clockTime, toolWords } from '../js/words.js';
import { titleOf } from './state.js';

/** @typedef {import('./app.js').App} App */
/** @typedef {import('../js/types.d.ts').Entry} Entry */

const PAGE = 500;

/** Every entry, oldest first. @param {App} app @param {string} id @returns {Promise<Entry[]>} */
async function allEntries(app, id) {
  /** @type {Entry[]} */
  let entries = [];
  /** @type {number | null} */
  let before = null;
  do {
    const page = await app.api.entries(id, before === null ? { limit: PAGE } : { limit: PAGE, before });
    entries = [...page.entries.map(filled), ...entries];
    before = page.before;
  } while (before !== null);
  return entries;
}

/** Text in a fence that it can't end by itself. @param {string} text @param {string} [language] */
function fenced(text, language = '') {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map((match) => match[0].length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text.replace(/\n$/, '')}\n${fence}`;
}

/** @param {Entry} entry @param {string} cwd @returns {string} */
function entryWords(entry, cwd) {
  switch (entry.kind) {
    case 'prompt': return `## ${entry.by}, ${clockTime(entry.at)}\n\n${entry.text}`;
    case 'text': return entry.voice === 'assistant' ? entry.text : '';
    case 'tool': {
      const words = toolWords(entry, cwd);
      const head = `**${words.verb}** \`${words.target.replaceAll('`', '')}\` (${entry.status})`;
      const parts = entry.diffs.length ? entry.diffs.map((one) => fenced(one.patch, 'diff')) : entry.output ? [fenced(entry.output)] : [];
      return [head, ...parts].join('\n\n');
    }
    case 'plan': return entry.items.map((item) => `- [${item.status === 'completed' ? 'x' : ' '}] ${item.text}`).join('\n');
    case 'request': {
      const answer = /** @type {any} */ (entry.answer);
      return answer ? `> ${answer.by} ${answer.decision === 'deny' ? 'denied' : answer.decision === 'allow' ? 'allowed' : 'answered'} a request.` : '';
    }
    default: return '';
  }
}

/** @param {App} app @param {string} id @param {'md' | 'json'} kind */
export async function exportSession(app, id, kind) {
  try {
    const session = app.store.get().sessions[id];
    const entries = await allEntries(app, id);
    const text = kind === 'json'
      ? JSON.stringify({ session, entries }, null, 1)
      : [`# ${titleOf(session)}`, ...entries.map((entry) => entryWords(entry, session.cwd)).filter(Boolean)].join('\n\n') + '\n';
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([text], { type: kind === 'json' ? 'application/json' : 'text/markdown' }));
    link.download = `${titleOf(session).replace(/[^\w-]+/g, '-').slice(0, 60) || 'session'}.${kind}`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  } catch (error) {
    app.trouble(error);
  }
}
