/** The table of the audit log: who did what in which session, from where, by which grant. */

import { h } from '../../js/dom.js';
import { visible } from '../../js/visible.js';
import { moment } from '../../js/format.js';
import { browserWords, placeWords, whatWords } from './audit_records.js';
import { deviceName } from '../machines.js';

/** @typedef {import('./audit_records.js').AuditLine} AuditLine */
/** @typedef {import('../state.js').State} State */
/**
 * `grants` are names by id; `machine` has the log; `bad` is the first record that does not hold.
 * @typedef {{grants: Record<string, string>, machine: string, bad: number}} About
 */

const COLUMNS = ['When', 'Who', 'What', 'Session', 'From', 'Detail'];

/**
 * @param {State} state
 * @param {AuditLine[]} rows
 * @param {About} about
 */
export function auditTable(state, rows, about) {
  const now = Date.now();
  return h(
    'div',
    { class: 'table-frame', tabindex: 0, role: 'group', 'aria-label': 'Audit records' },
    h(
      'table',
      { class: 'audit data-table' },
      h(
        'thead',
        null,
        h(
          'tr',
          null,
          COLUMNS.map((column) => h('th', { scope: 'col' }, column)),
        ),
      ),
      h(
        'tbody',
        null,
        rows.map((row) => auditRow(state, row, about, now)),
      ),
    ),
  );
}

/**
 * @param {State} state
 * @param {AuditLine} line
 * @param {About} about
 * @param {number} now
 */
function auditRow(state, line, about, now) {
  const decided = line.action === 'permission' && line.decision;
  const words = whatWords(line);
  const session = line.session_id ? state.sessions[line.session_id] : undefined;
  const title = line.session_id && (session?.title || line.session_id);
  const machine = session?.device ? deviceName(state, session) : about.machine;
  return h(
    'tr',
    { 'data-key': String(line.n) },
    h('td', { class: 'audit__when', title: line.at }, moment(line.at, now)),
    two('audit__who', line.actor, grantWords(line, about)),
    h(
      'td',
      { class: 'audit__what' },
      decided
        ? h('span', { class: `verdict-mark is-${line.decision === 'allow' ? 'allowed' : 'denied'}` }, words)
        : words,
      line.n >= about.bad && h('span', { class: 'audit__unsound' }, 'not verified'),
    ),
    two('audit__session', title || '', machine),
    two('audit__from', browserWords(line.user_agent), placeWords(line), line.user_agent),
    h('td', { class: 'audit__detail' }, line.detail ? h('code', null, visible(line.detail)) : null),
  );
}

/**
 * The grant by its name now; one that is gone, or is another machine's, by its id.
 * @param {AuditLine} one
 * @param {About} about
 */
function grantWords({ grant_id: id, actor }, { grants }) {
  if (!id) return '';
  const name = grants[id];
  return name === actor ? `key ${id.slice(0, 8)}` : name ? `key “${name}”` : `key ${id.slice(0, 8)}`;
}

/**
 * A cell of two lines.
 * @param {string} name
 * @param {string} first
 * @param {string} second
 * @param {string} [whole] on the pointer
 */
const two = (name, first, second, whole = first) =>
  h(
    'td',
    { class: `audit__two ${name}`, title: visible(whole ?? '') },
    first && h('b', null, visible(first)),
    second && h('span', null, visible(second)),
  );
