/** The audit log: who did what, newest first, page by page, with a check that nothing in it was changed. */

import { h } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { visible } from '../../js/visible.js';
import { count, moment } from '../../js/format.js';
import { problem } from './parts.js';
import { table } from '../../js/tables.js';

/** @typedef {import('./parts.js').Context} Context */
/** @typedef {import('../state.js').State} State */

const PAGE = 200;

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
  grant: 'Trust',
  worktree: 'Changed a work tree',
  git: 'Changed the repository',
  refused: 'Was refused',
  start_asked: 'Asked to start',
  start_decided: 'Answered a start',
  start_refused: 'Start refused',
  start_unusual: 'Unusual start',
});

/** @typedef {import('../../js/types.d.ts').AuditVerdict} AuditVerdict */

/** @param {Context} context */
export async function loadAudit({ app, loaded }) {
  const there = loaded.auditOf ? { device: loaded.auditOf.device } : {};
  loaded.audit = [];
  loaded.verdict = await app.api.verifyAudit(there);
  loaded.auditCopies = loaded.auditOf ? loaded.auditCopies : (loaded.verdict.copies ?? []);
  loaded.auditFrom = Math.max(0, shownVerdict(loaded).count - PAGE);
  loaded.audit = rowsOf(await app.api.audit(loaded.auditFrom, PAGE, loaded.auditOf ?? {}));
}

/**
 * Of the chain that is shown: a machine that was restored has several.
 * @param {Context['loaded']} loaded
 * @returns {{ok: boolean, count: number, problem?: string | null}}
 */
function shownVerdict({ verdict, auditOf }) {
  const copy = auditOf && (verdict?.copies ?? []).find((/** @type {any} */ one) => one.chain === auditOf.chain);
  return copy ? { ok: !copy.problem, count: copy.count, problem: copy.problem } : verdict;
}

/** @param {Context} context */
async function loadOlder({ app, loaded, again }) {
  const from = Math.max(0, loaded.auditFrom - PAGE);
  try {
    const older = rowsOf(await app.api.audit(from, loaded.auditFrom - from, loaded.auditOf ?? {}));
    loaded.audit = [...older, ...loaded.audit];
    loaded.auditFrom = from;
  } catch (error) {
    loaded.problem = /** @type {Error} */ (error).message;
  }
  again();
}

/** @typedef {{at: string, n: number} & import('../../js/types.d.ts').AuditRecord} AuditLine */

/** @param {import('../../js/types.d.ts').AuditPage} page */
const rowsOf = (page) => page.records.map((line) => ({ at: line.entry.at, n: line.entry.n, ...line.entry.record }));

/** @param {string} decision */
function grantWords(decision) {
  if (decision.startsWith('renamed')) return 'Renamed';
  return decision === 'created' ? 'Created a link' : decision === 'revoked' ? 'Revoked' : 'Took back';
}

/** @param {AuditLine} one */
function whatWords(one) {
  if (one.action === 'permission' && one.decision) return one.decision === 'allow' ? 'Allowed' : 'Denied';
  if (one.action === 'grant' && one.decision) return grantWords(one.decision);
  return ACTIONS[one.action] ?? one.action;
}

/**
 * @param {Context} context
 * @param {State} state
 */
export function auditPart(context, state) {
  const { loaded } = context;
  const rows = [...(loaded.audit ?? [])].reverse();
  const shown = rows.filter(
    (one) => (!loaded.who || one.actor === loaded.who) && (!loaded.what || whatWords(one) === loaded.what),
  );
  return [
    auditHead(loaded.verdict && shownVerdict(loaded)),
    chainPicker(context),
    problem(loaded.problem),
    rows.length > 0 && filters(context, rows, shown.length),
    auditTable(state, shown),
    loaded.auditFrom > 0 &&
      h(
        'button',
        { type: 'button', class: 'button line', onclick: () => void loadOlder(context) },
        `Show ${Math.min(PAGE, loaded.auditFrom)} earlier records`,
      ),
  ];
}

/** @param {{ok: boolean, count: number, problem?: string | null} | undefined} verdict */
const auditHead = (verdict) =>
  h(
    'div',
    { class: 'settings-head' },
    h('h2', null, 'Audit log'),
    h('p', null, 'Who did what. Records are chained; none can be changed unnoticed.'),
    verdict &&
      h(
        'span',
        { class: `chain ${verdict.ok ? '' : 'fail'}` },
        icon(verdict.ok ? 'okc' : 'alert', 14),
        verdict.ok ? `${count(verdict.count, 'record')}, the chain holds` : visible(verdict.problem ?? ''),
      ),
  );

/**
 * Whose chain: this server's own, or the copy of a machine's that has joined it.
 * @param {Context} context
 */
function chainPicker({ loaded, reload }) {
  /** @type {import('../../js/types.d.ts').AuditCopy[]} */
  const copies = loaded.auditCopies ?? [];
  if (!copies.length) return null;
  const now = loaded.auditOf ? copies.findIndex((one) => sameChain(one, loaded.auditOf)) : -1;
  const choose = (/** @type {string} */ value) => {
    const copy = copies[Number(value)];
    loaded.auditOf = copy && { device: copy.device, chain: copy.chain };
    Object.assign(loaded, { who: '', what: '' });
    reload();
  };
  return h(
    'label',
    { class: 'machine-field', 'data-key': 'chain' },
    h('span', null, 'Of'),
    h(
      'select',
      {
        class: 'input',
        'aria-label': 'Whose audit log',
        onchange: (/** @type {On<HTMLSelectElement>} */ event) => choose(event.currentTarget.value),
      },
      h('option', { value: '-1', selected: now < 0 }, 'this server'),
      copies.map((one, n) => h('option', { value: String(n), selected: n === now }, chainName(one))),
    ),
  );
}

/**
 * @param {import('../../js/types.d.ts').AuditCopy} one
 * @param {{device: string, chain: number}} other
 */
const sameChain = (one, other) => one.device === other.device && one.chain === other.chain;

/** @param {import('../../js/types.d.ts').AuditCopy} one */
const chainName = (one) =>
  [visible(one.name), !one.current && `, until ${moment(one.copiedAt, Date.now())}`, one.problem && ' (broken)']
    .filter(Boolean)
    .join('');

/**
 * @param {Context} context
 * @param {AuditLine[]} rows
 * @param {number} shown
 */
function filters({ loaded, again }, rows, shown) {
  const names = [...new Set(rows.map((one) => one.actor))].sort();
  const kinds = [...new Set(rows.map(whatWords))].sort();
  const choose = (/** @type {'who' | 'what'} */ field) => (/** @type {string} */ value) => {
    loaded[field] = value;
    again();
  };
  const records = count(rows.length, 'record');
  return h(
    'div',
    { class: 'filters' },
    filter('Who', 'Everybody', names, loaded.who, choose('who')),
    filter('What', 'Everything', kinds, loaded.what, choose('what')),
    h('span', { class: 'hint' }, shown === rows.length ? `${records} shown` : `${shown} of ${records}`),
  );
}

/**
 * @param {State} state
 * @param {AuditLine[]} rows
 */
function auditTable(state, rows) {
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
          ['When', 'Who', 'What', 'Session', 'Detail'].map((one) => h('th', null, one)),
        ),
      ),
      h(
        'tbody',
        null,
        rows.map((one) => auditRow(state, one, now)),
      ),
    ),
  );
}

/**
 * @param {State} state
 * @param {AuditLine} one
 * @param {number} now
 */
function auditRow(state, one, now) {
  const decided = one.action === 'permission' && one.decision;
  const words = whatWords(one);
  const title = one.session_id && (state.sessions[one.session_id]?.title || one.session_id);
  return h(
    'tr',
    { 'data-key': String(one.n) },
    h('td', null, moment(one.at, now)),
    h('td', null, h('b', null, visible(one.actor ?? ''))),
    h(
      'td',
      null,
      decided ? h('span', { class: `verdict-mark ${one.decision === 'allow' ? 'ok' : 'no'}` }, words) : words,
    ),
    h('td', null, title ? visible(title).slice(0, 40) : ''),
    h('td', null, h('code', { title: visible(one.detail ?? '') }, visible(one.detail ?? ''))),
  );
}

/**
 * @param {string} label
 * @param {string} all
 * @param {string[]} values
 * @param {string | undefined} chosen
 * @param {(value: string) => void} choose
 */
const filter = (label, all, values, chosen, choose) =>
  h(
    'label',
    null,
    h('span', { class: 'spoken' }, label),
    h(
      'select',
      {
        class: 'input',
        'data-key': label,
        onchange: (/** @type {On<HTMLInputElement>} */ event) => choose(event.currentTarget.value),
      },
      h('option', { value: '', selected: !chosen }, all),
      values.map((value) => h('option', { value, selected: value === chosen }, visible(value))),
    ),
  );
