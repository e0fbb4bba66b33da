/** Saves the audit log as a file: every record that the filters show, of the chain that is in view. */

import { csvOf, isShown, jsonLinesOf, lineOf } from './audit_records.js';
import { save } from '../saving.js';

/** @typedef {import('./parts.js').Context} Context */
/** @typedef {import('./audit_records.js').Filter} Filter */

const PAGE = 1000;

/**
 * @param {Context} context
 * @param {'jsonl' | 'csv'} format
 * @param {Filter} filter
 * @param {string} machine
 */
export async function exportAudit({ app, loaded, again }, format, filter, machine) {
  loaded.exporting = true;
  again();
  try {
    const rows = await allRows(app, loaded.auditOf ?? {}, filter);
    const text = format === 'csv' ? csvOf(rows, machine) : jsonLinesOf(rows);
    const day = new Date().toISOString().slice(0, 10);
    const name = `audit-${machine.replace(/[^\w.-]+/g, '-')}-${day}.${format}`;
    save(new Blob([text], { type: format === 'csv' ? 'text/csv' : 'application/jsonl' }), name);
  } catch (error) {
    app.trouble(error);
  }
  loaded.exporting = false;
  again();
}

/**
 * @param {import('../app.js').App} app
 * @param {{device?: string, chain?: number}} where
 * @param {Filter} filter
 */
async function allRows(app, where, filter) {
  const now = Date.now();
  const rows = [];
  for (let after = 0; ;) {
    const page = await app.api.audit(after, PAGE, where);
    if (!page.records.length) return rows;
    rows.push(...page.records.filter((record) => isShown(lineOf(record), filter, now)));
    after = page.last;
  }
}
