/** The audit log: who did what, newest first, with filters, an export and a check that nothing in it was changed. */

import { h } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { visible } from '../../js/visible.js';
import { count, moment } from '../../js/format.js';
import { tableOf } from '../../js/tables.js';
import { hereId, deviceById } from '../machines.js';
import { exportAudit } from './audit_export.js';
import { BETWEEN, SPANS, beginOf, chainWords, isFiltered, isShown, lineOf, whatWords } from './audit_records.js';
import { auditTable } from './audit_table.js';
import { problem } from './parts.js';

/** @typedef {import('./parts.js').Context} Context */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('./audit_records.js').AuditLine} AuditLine */
/** @typedef {import('./audit_records.js').Filter} Filter */

const PAGE = 200;
const SEARCHED = 1000; // records in one step back
const STEPS = 20; // back at once, for a filter that few records meet

/** @param {Context} context */
export async function loadAudit({ app, loaded }) {
  const there = loaded.auditOf ? { device: loaded.auditOf.device } : {};
  loaded.audit = [];
  loaded.auditRun = {}; // what an earlier load or search still reads belongs to nothing
  const [verdict, grants] = await Promise.all([app.api.verifyAudit(there), app.api.grants()]);
  loaded.verdict = verdict;
  loaded.grantNames = tableOf(grants.map((grant) => /** @type {const} */ ([grant.id, grant.name])));
  loaded.auditCopies = loaded.auditOf ? loaded.auditCopies : (verdict.copies ?? []);
  loaded.auditFrom = shownVerdict(loaded).count;
  await readBack({ app, loaded }, PAGE);
  if (!shownVerdict(loaded).ok) await readOn({ app, loaded });
}

/**
 * What comes after the record at which the chain is broken: it is shown, too.
 * @param {Pick<Context, 'app' | 'loaded'>} context
 */
async function readOn({ app, loaded }) {
  let after = shownVerdict(loaded).count;
  for (let step = 0; step < STEPS; step += 1) {
    const page = await app.api.audit(after, SEARCHED, loaded.auditOf ?? {});
    if (!page.records.length) return;
    loaded.audit = [...loaded.audit, ...page.records.map(lineOf)];
    after = page.last;
  }
}

/**
 * The records before those that are here.
 * @param {Pick<Context, 'app' | 'loaded'>} context
 * @param {number} many
 */
async function readBack({ app, loaded }, many) {
  const [from, run] = [Math.max(0, loaded.auditFrom - many), loaded.auditRun];
  const page = await app.api.audit(from, Math.max(1, loaded.auditFrom - from), loaded.auditOf ?? {});
  if (loaded.auditRun !== run) return;
  loaded.audit = [...page.records.map(lineOf), ...loaded.audit];
  loaded.auditFrom = from;
}

/**
 * Of the chain that is shown: a machine that was restored has several.
 * @param {Context['loaded']} loaded
 * @returns {{ok: boolean, count: number, bad?: number | null, problem?: string | null}}
 */
function shownVerdict({ verdict, auditOf }) {
  const copy = auditOf && (verdict?.copies ?? []).find((candidate) => candidate.chain === auditOf.chain);
  return copy
    ? { ok: !copy.problem, count: copy.count, bad: copy.brokenAt, problem: copy.problem }
    : (verdict ?? { ok: true, count: 0 });
}

/**
 * Back until there is a screenful of what is chosen, which may change meanwhile.
 * @param {Context} context
 * @param {boolean} [more] than is shown now
 */
async function lookBack({ app, loaded, again }, more = false) {
  if (loaded.searching) return again();
  const [now, run] = [Date.now(), loaded.auditRun];
  const chosen = () => /** @type {Filter} */ (loaded.filter ?? {});
  const shown = () => loaded.audit.filter((line) => isShown(line, chosen(), now)).length;
  const reaches = () => loaded.audit.length > 0 && Date.parse(loaded.audit[0].at) < beginOf(chosen(), now);
  const wanted = more ? shown() + 1 : PAGE;
  const enough = () => shown() >= wanted || reaches() || (!more && !isFiltered(chosen()));
  loaded.searching = true;
  again();
  try {
    for (let step = 0; step < STEPS && loaded.auditFrom > 0 && loaded.auditRun === run && !enough(); step += 1)
      await readBack({ app, loaded }, isFiltered(chosen()) ? SEARCHED : PAGE);
  } catch (error) {
    loaded.problem = /** @type {Error} */ (error).message;
  }
  loaded.searching = false;
  again();
}

/**
 * @param {Context} context
 * @param {State} state
 */
export function auditPart(context, state) {
  const { loaded } = context;
  const [rows, filter, now] = [[...(loaded.audit ?? [])].reverse(), loaded.filter ?? {}, Date.now()];
  const shown = rows.filter((row) => isShown(row, filter, now));
  const machine = machineName(state, loaded);
  const verdict = loaded.verdict && shownVerdict(loaded);
  const bad = verdict && !verdict.ok ? (verdict.bad ?? verdict.count + 1) : Infinity;
  return [
    auditHead(verdict),
    chainPicker(context),
    problem(loaded.problem),
    rows.length > 0 && filters(context, rows, shown.length, machine),
    shown.length > 0
      ? auditTable(state, shown, { grants: loaded.grantNames ?? {}, machine, bad })
      : rows.length > 0 && h('p', { class: 'hint', role: 'status' }, 'No record here matches these filters.'),
    loaded.auditFrom > 0 && olderButton(context, filter),
  ];
}

/**
 * @param {Context} context
 * @param {Filter} filter
 */
function olderButton(context, filter) {
  const { auditFrom, searching } = context.loaded;
  const words = isFiltered(filter)
    ? `Search ${count(Math.min(SEARCHED * STEPS, auditFrom), 'earlier record')}`
    : `Show ${count(Math.min(PAGE, auditFrom), 'earlier record')}`;
  return h(
    'button',
    { type: 'button', class: 'button line', disabled: searching, onclick: () => void lookBack(context, true) },
    searching ? 'Searching earlier records…' : words,
  );
}

/**
 * The machine whose log is shown.
 * @param {State} state
 * @param {Context['loaded']} loaded
 */
function machineName(state, { auditOf, auditCopies }) {
  if (!auditOf) return deviceById(state, hereId(state))?.name || 'this server';
  const copy = (auditCopies ?? []).find((candidate) => sameChain(candidate, auditOf));
  return copy?.name ?? auditOf.device;
}

/** @param {Parameters<typeof chainWords>[0] | undefined} verdict */
const auditHead = (verdict) =>
  h(
    'div',
    { class: 'settings-head' },
    h('h2', null, 'Audit log'),
    h('p', null, 'Who did what. Records are chained; none can be changed unnoticed.'),
    verdict &&
      h(
        'p',
        { class: `chain ${verdict.ok ? '' : 'fail'}`, role: 'status' },
        icon(verdict.ok ? 'okc' : 'alert', 14),
        h('span', null, visible(chainWords(verdict))),
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
  const { auditOf } = loaded;
  const now = auditOf ? copies.findIndex((copy) => sameChain(copy, auditOf)) : -1;
  const choose = (/** @type {string} */ value) => {
    const copy = copies[Number(value)];
    loaded.auditOf = copy && { device: copy.device, chain: copy.chain };
    loaded.filter = {};
    reload();
  };
  return h(
    'label',
    { class: 'machine-field', 'data-key': 'chain' },
    h('span', null, 'Log of'),
    h(
      'select',
      {
        class: 'input',
        'aria-label': 'Whose audit log',
        onchange: (/** @type {On<HTMLSelectElement>} */ event) => choose(event.currentTarget.value),
      },
      h('option', { value: '-1', selected: now < 0 }, 'this server'),
      copies.map((copy, n) => h('option', { value: String(n), selected: n === now }, chainName(copy))),
    ),
  );
}

/**
 * @param {import('../../js/types.d.ts').AuditCopy} one
 * @param {{device: string, chain: number}} other
 */
const sameChain = (one, other) => one.device === other.device && one.chain === other.chain;

/** @param {import('../../js/types.d.ts').AuditCopy} copy */
const chainName = (copy) =>
  [visible(copy.name), !copy.current && `, until ${moment(copy.copiedAt, Date.now())}`, copy.problem && ' (broken)']
    .filter(Boolean)
    .join('');

/**
 * @param {Context} context
 * @param {AuditLine[]} rows
 * @param {number} shown
 * @param {string} machine
 */
function filters(context, rows, shown, machine) {
  const { loaded } = context;
  /** @type {Filter} */
  const chosen = loaded.filter ?? {};
  const names = [...new Set(rows.map((row) => row.actor))].sort();
  const kinds = [...new Set(rows.map(whatWords))].sort();
  const choose = (/** @type {keyof Filter} */ field) => (/** @type {string} */ value) => {
    loaded.filter = { ...chosen, [field]: value };
    void lookBack(context);
  };
  const records = count(rows.length, 'record');
  /** @type {[string, string][]} */
  const spans = [...SPANS, [BETWEEN, 'Between two days…']];
  return h(
    'div',
    { class: 'filters audit-filters' },
    filter('Who', 'Everybody', pairs(names), chosen.who, choose('who')),
    filter('What', 'Everything', pairs(kinds), chosen.what, choose('what')),
    filter('When', 'At any time', spans, chosen.since, choose('since')),
    chosen.since === BETWEEN && [
      dayField('From', chosen.first, choose('first')),
      dayField('To', chosen.last, choose('last')),
    ],
    h('span', { class: 'hint', role: 'status' }, shown === rows.length ? `${records} shown` : `${shown} of ${records}`),
    exportButtons(context, chosen, machine),
  );
}

/**
 * @param {string[]} values
 * @returns {[string, string][]}
 */
const pairs = (values) => values.map((value) => [value, value]);

/**
 * @param {Context} context
 * @param {Filter} chosen
 * @param {string} machine
 */
function exportButtons(context, chosen, machine) {
  const { loaded } = context;
  /** @type {['jsonl' | 'csv', string][]} */
  const formats = [
    ['jsonl', 'Export JSON lines'],
    ['csv', 'Export CSV'],
  ];
  return h(
    'span',
    { class: 'audit-filters__export' },
    formats.map(([format, words]) =>
      h(
        'button',
        {
          type: 'button',
          class: 'button line',
          disabled: loaded.exporting,
          title: isFiltered(chosen) ? 'Every record that the filters show' : 'Every record',
          onclick: () => void exportAudit(context, format, chosen, machine),
        },
        words,
      ),
    ),
  );
}

/**
 * @param {string} label
 * @param {string | undefined} value
 * @param {(value: string) => void} choose
 */
const dayField = (label, value, choose) =>
  h(
    'label',
    { class: 'audit-filters__day', 'data-key': label },
    h('span', null, label),
    h('input', {
      class: 'input',
      type: 'date',
      value: value ?? '',
      onchange: (/** @type {On<HTMLInputElement>} */ event) => choose(event.currentTarget.value),
    }),
  );

/**
 * @param {string} label
 * @param {string} all
 * @param {[string, string][]} values the value and its words
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
      values.map(([value, words]) => h('option', { value, selected: value === chosen }, visible(words))),
    ),
  );
