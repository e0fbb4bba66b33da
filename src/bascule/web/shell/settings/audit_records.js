/** Records of the audit log: what they say in words, which of them a filter shows, and how they are exported. Pure. */

import { table } from '../../js/tables.js';
import { browserName } from '../connection/browser_name.js';

/** @typedef {{at: string, n: number} & import('../../js/types.d.ts').AuditRecord} AuditLine */
/** @typedef {import('../../js/types.d.ts').AuditRow} AuditRow */
/**
 * `since` is a number of hours; `first` and `last` are days, both included.
 * @typedef {{who?: string, what?: string, since?: string, first?: string, last?: string}} Filter
 */

/** @type {Record<string, string>} */
const ACTIONS = table({
  session_started: 'Started',
  session_ended: 'Ended',
  input: 'Sent',
  permission: 'Answered',
  question: 'Answered a question',
  rule: 'Made a rule',
  mode: 'Changed the mode',
  interrupt: 'Stopped a turn',
  limit: 'Answered a limit',
  grant: 'Trust',
  worktree: 'Changed a work tree',
  git: 'Changed the repository',
  refused: 'Was refused',
  start_asked: 'Asked to start',
  start_decided: 'Answered a start',
  start_refused: 'Start refused',
  start_unusual: 'Unusual start',
  restored: 'An older copy was restored',
});

/** The spans of time to choose from: hours and words. @type {[string, string][]} */
export const SPANS = [
  ['1', 'The last hour'],
  ['24', 'The last 24 hours'],
  ['168', 'The last 7 days'],
  ['720', 'The last 30 days'],
];
export const BETWEEN = 'between';
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/**
 * @param {AuditRow} row
 * @returns {AuditLine}
 */
export const lineOf = (row) => ({ at: row.entry.at, n: row.entry.n, ...row.entry.record });

/**
 * A session's own key is made with every start, and is no link that somebody was given.
 * @param {string} decision
 * @param {string} detail role and name of the grant
 */
function grantWords(decision, detail) {
  if (decision.startsWith('renamed')) return 'Renamed';
  if (decision === 'created') return detail.startsWith('session ') ? 'Created a session key' : 'Created a link';
  if (decision === 'revoked again') return 'Revoked again';
  return decision === 'revoked' ? 'Revoked' : 'Took back';
}

/** @param {AuditLine} line */
export function whatWords(line) {
  if (line.action === 'permission' && line.decision) return line.decision === 'allow' ? 'Allowed' : 'Denied';
  if (line.action === 'grant' && line.decision) return grantWords(line.decision, line.detail ?? '');
  return ACTIONS[line.action] ?? line.action;
}

/**
 * "Chrome on Linux"; a program that is no browser names itself.
 * @param {string | undefined} agent
 */
export function browserWords(agent) {
  if (!agent) return '';
  const known = browserName(agent);
  return known === 'browser' ? agent.split('/')[0].slice(0, 40) : known;
}

/**
 * The first moment that a filter shows, in milliseconds.
 * @param {Filter} filter
 * @param {number} now
 */
export function beginOf({ since, first }, now) {
  if (since === BETWEEN) return first ? Date.parse(`${first}T00:00:00`) : -Infinity;
  return since ? now - Number(since) * HOUR : -Infinity;
}

/** @param {Filter} filter */
const endOf = ({ since, last }) => (since === BETWEEN && last ? Date.parse(`${last}T00:00:00`) + DAY : Infinity);

/** @param {Filter} filter */
export const isFiltered = ({ who, what, since }) => Boolean(who || what || since);

/**
 * @param {AuditLine} line
 * @param {Filter} filter
 * @param {number} now
 */
export function isShown(line, filter, now) {
  const at = Date.parse(line.at);
  return (
    (!filter.who || line.actor === filter.who) &&
    (!filter.what || whatWords(line) === filter.what) &&
    at >= beginOf(filter, now) &&
    at < endOf(filter)
  );
}

/**
 * The address; and the hub that named it, where that is another machine's: who asked is then what the hub says.
 * @param {Pick<AuditLine, 'address' | 'via'>} one
 */
export const placeWords = ({ address = '', via = '' }) =>
  via ? `${address || 'no address'}, reported by the hub ${via}` : address;

/**
 * Whether the chain holds, in words.
 * @param {{ok: boolean, count: number, bad?: number | null, problem?: string | null}} verdict
 */
export function chainWords({ ok, count, bad, problem }) {
  const records = count === 1 ? '1 record' : `${count.toLocaleString('en')} records`;
  if (ok) return `Verified: ${records}, each follows from the one before.`;
  const where = bad ? `Broken at record ${bad.toLocaleString('en')}` : 'Broken';
  return `${where}: ${problem || 'it does not hold'}. Compare the log with a backup before you rely on it.`;
}

const COLUMNS = /** @type {const} */ ([
  'n',
  'at',
  'action',
  'actor',
  'grant_id',
  'address',
  'user_agent',
  'session_id',
  'request_id',
  'decision',
  'detail',
  'via',
]);

/**
 * A spreadsheet takes a cell that begins like this for a formula; a quote before it says that it is text.
 * @param {unknown} value
 */
function cell(value) {
  const text = String(value ?? '').replace(/[\r\n\t]+/g, ' ');
  const safe = /^[=+\-@]/.test(text) ? `'${text}` : text;
  return /[",]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/**
 * The columns of `bascule audit export --csv`, and the machine.
 * @param {AuditRow[]} rows
 * @param {string} machine
 */
export function csvOf(rows, machine) {
  const lines = rows.map(lineOf).map((line) => [...COLUMNS.map((name) => cell(line[name])), cell(machine)].join(','));
  return `${[[...COLUMNS, 'machine'].join(','), ...lines].join('\r\n')}\r\n`;
}

/**
 * A record a line, with its hashes: with all of them the chain can be verified.
 * @param {AuditRow[]} rows
 */
export const jsonLinesOf = (rows) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
