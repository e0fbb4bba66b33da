/** What the palette lists for some words: sessions by name, what was said in them, what can be done. */

import { h } from '../../js/dom.js';
import { age, folderName } from '../../js/format.js';
import { icon } from '../../js/icons.js';
import { visible } from '../../js/visible.js';
import { agentLetter, dot, keyName } from '../parts.js';
import { usable } from '../library/prompts.js';
import { machineTag } from '../machines.js';
import { sessionsInOrder, statusOf, titleOf } from '../sessions.js';
import { marked } from './hits.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../app.js').Command} Command */
/** @typedef {import('../../js/dom.js').Child} Child */
/**
 * @typedef {object} Row
 * @property {string} key
 * @property {Child} mark
 * @property {Child | Child[]} label
 * @property {string} note
 * @property {boolean} [tall]
 * @property {() => void} run
 */
/** @typedef {{title: string, rows: Row[]}} Section */

const MAX_SESSIONS = 6;
const MAX_SAID = 4;
const MAX_PROMPTS = 4;
const MAX_COMMANDS = 6; // while nothing is typed

/**
 * The pieces of a label before, in and after the first place that holds what is wanted.
 * @param {string} label
 * @param {string} wanted in lower case
 * @returns {[string, string, string] | null}
 */
export function pieces(label, wanted) {
  const at = wanted ? label.toLowerCase().indexOf(wanted) : -1;
  if (at < 0) return null;
  return [label.slice(0, at), label.slice(at, at + wanted.length), label.slice(at + wanted.length)];
}

/**
 * @param {string} label
 * @param {string} wanted
 */
function underlined(label, wanted) {
  const found = pieces(label, wanted);
  return found ? [found[0], h('mark', null, found[1]), found[2]] : [label];
}

/**
 * @param {App} app
 * @param {string} text
 * @param {import('./hits.js').Found} found
 * @param {Command[]} commands
 * @returns {Section[]}
 */
export function paletteSections(app, text, found, commands) {
  const wanted = text.trim().toLowerCase();
  const listed = commandRows(commands, wanted);
  const sessions = [...sessionRows(app, wanted), ...titledRows(app, wanted, found)].slice(0, MAX_SESSIONS);
  const above = new Set(sessions.map((session) => session.key));
  return [
    { title: 'Sessions', rows: sessions },
    { title: 'Said in sessions', rows: saidRows(app, wanted, found, above) },
    { title: 'Prompts', rows: promptRows(app, wanted) },
    { title: 'Commands', rows: wanted ? listed : listed.slice(0, MAX_COMMANDS) },
  ].filter((one) => one.rows.length);
}

/**
 * @param {App} app
 * @param {string} wanted
 * @returns {Row[]}
 */
function sessionRows(app, wanted) {
  const state = app.store.get();
  return sessionsInOrder(state)
    .filter((session) =>
      [titleOf(session), folderName(session.cwd)].some((name) => name.toLowerCase().includes(wanted)),
    )
    .slice(0, MAX_SESSIONS)
    .map((session) => {
      const status = statusOf(state, session);
      return {
        key: session.session_id,
        mark: dot(status.dot, status.word),
        label: underlined(titleOf(session), wanted),
        note: [folderName(session.cwd), machineTag(state, session), status.word.toLowerCase()]
          .filter(Boolean)
          .join(' · '),
        run: () => app.go({ name: 'session', id: session.session_id }),
      };
    });
}

/**
 * Sessions that the server knows by their title and this page does not hold.
 * @param {App} app
 * @param {string} wanted
 * @param {import('./hits.js').Found} found
 * @returns {Row[]}
 */
function titledRows(app, wanted, found) {
  const { sessions } = app.store.get();
  return (wanted ? found.hits : [])
    .filter((hit) => hit.firstSeq === 0 && !sessions[hit.sessionId] && hit.title.toLowerCase().includes(wanted))
    .map((hit) => ({
      key: hit.sessionId,
      mark: agentLetter(hit.title),
      label: underlined(visible(hit.title) || 'New session', wanted),
      note: `${hit.archived ? 'archived' : 'older'} · ${age(hit.at, Date.now())}`,
      run: () => app.go({ name: 'session', id: hit.sessionId }),
    }));
}

/**
 * @param {App} app
 * @param {string} wanted
 * @param {import('./hits.js').Found} found
 * @param {Set<string>} above sessions that are listed already
 * @returns {Row[]}
 */
function saidRows(app, wanted, found, above) {
  const { sessions } = app.store.get();
  return (wanted && found.q.toLowerCase().startsWith(wanted.slice(0, 1)) ? found.hits : [])
    .filter((hit) => hit.firstSeq > 0 && !above.has(hit.sessionId))
    .slice(0, MAX_SAID)
    .map((hit) => ({
      key: `${hit.sessionId}/${hit.firstSeq}`,
      mark: agentLetter(sessions[hit.sessionId]?.agent || hit.title),
      label: marked(hit.snippet),
      tall: true,
      note: `${visible(hit.title ?? '') || 'New session'} · ${age(hit.at, Date.now())}`,
      run: () => app.goTo(hit.sessionId, hit.firstSeq),
    }));
}

/**
 * Prompts of the library: into the message of the session in view, or to be used.
 * @param {App} app
 * @param {string} wanted
 * @returns {Row[]}
 */
const promptRows = (app, wanted) =>
  (wanted ? usable(app.store.get().prompts, wanted) : []).slice(0, MAX_PROMPTS).map((prompt) => ({
    key: `prompt ${prompt.id}`,
    mark: icon('book'),
    label: underlined(visible(prompt.title), wanted),
    note: prompt.tags.map((tag) => `#${visible(tag)}`).join(' ') || 'prompt',
    run: () => app.events.emit('insertPrompt', prompt.id),
  }));

/**
 * @param {Command[]} commands
 * @param {string} wanted
 * @returns {Row[]}
 */
const commandRows = (commands, wanted) =>
  commands
    .filter((command) => command.label.toLowerCase().includes(wanted) && (command.when?.() ?? true))
    .map((command) => ({
      key: command.label,
      mark: icon(command.icon),
      label: underlined(command.label, wanted),
      note: keyName(command.keys ?? ''),
      run: command.run,
    }));
