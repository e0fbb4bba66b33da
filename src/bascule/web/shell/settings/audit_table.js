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
          COLUMNS.map((one) => h('th', { scope: 'col' }, one)),
        ),
      ),
      h(
        'tbody',
        null,
        rows.map((one) => auditRow(state, one, about, now)),
      ),
    ),
  );
}

/**
 * @param {State} state
 * @param {AuditLine} one
 * @param {About} about
 * @param {number} now
 */
function auditRow(state, one, about, now) {
  const decided = one.action === 'permission' && one.decision;
  const words = whatWords(one);
  const session = one.session_id ? state.sessions[one.session_id] : undefined;
  const title = one.session_id && (session?.title || one.session_id);
  const machine = session?.device ? deviceName(state, session) : about.machine;
  return h(
    'tr',
    { 'data-key': String(one.n) },
    h('td', { class: 'audit__when', title: one.at }, moment(one.at, now)),
    two('audit__who', one.actor, grantWords(one, about)),
    h(
      'td',
      { class: 'audit__what' },
      decided
        ? h('span', { class: `verdict-mark is-${one.decision === 'allow' ? 'allowed' : 'denied'}` }, words)
        : words,
      one.n >= about.bad && h('span', { class: 'audit__unsound' }, 'not verified'),
    ),
    two('audit__session', title || '', machine),
    two('audit__from', browserWords(one.user_agent), placeWords(one), one.user_agent),
    h('td', { class: 'audit__detail' }, one.detail ? h('code', null, visible(one.detail)) : null),
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
