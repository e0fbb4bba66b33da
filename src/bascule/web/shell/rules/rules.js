/** Settings, Rules: what is answered without asking. A rule is written, tried on what was asked before, then kept. */

import { h } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { machinePicker, pickedDevice, where } from '../settings/machine_picker.js';
import { problem } from '../settings/parts.js';
import { onlyOn } from '../machines.js';
import { ownerNote } from '../owner_note.js';
import { FIRST_DRAFT, draftOf } from './draft.js';
import { ruleEditor } from './editor.js';
import { foldersOf } from './fields.js';
import { importCard } from './import.js';
import { rulesTable } from './table.js';
import { tryRequest } from './try_request.js';

/** @typedef {import('../settings/parts.js').Context} Context */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('./draft.js').Draft} Draft */

/** @param {Context} context */
export async function loadRules(context) {
  const { app, loaded } = context;
  loaded.rules = await app.feed.call('rules:list', where(context));
}

/**
 * @param {Context} context
 * @param {State} everywhere
 */
export function rulesPart(context, everywhere) {
  const { loaded, again } = context;
  const device = pickedDevice(context, everywhere);
  const refuses = device?.ownerOnly ? device : undefined;
  const state = onlyOn(everywhere, device?.device);
  const begin = (/** @type {Draft} */ draft) => {
    loaded.draft = draft;
    loaded.dryRun = null;
    loaded.draftProblem = '';
    again();
  };
  const does = {
    import: () => void propose(context, state),
    make: () => begin({ ...FIRST_DRAFT, ...(refuses ? { answer: 'ask' } : {}), folder: foldersOf(state)[0] ?? '' }),
    change: (/** @type {import('../../js/types.d.ts').RuleView} */ rule) => begin(draftOf(rule)),
    remove: (/** @type {import('../../js/types.d.ts').RuleView} */ rule) => void remove(context, rule.id),
  };
  const owner = !state.me || state.me.role === 'owner';
  return [
    partHead(owner ? does : null),
    machinePicker(context, everywhere),
    problem(loaded.problem || loaded.rules?.problem),
    owner && refuses && ownerNote(refuses, 'rules that allow, and changes to those that deny or ask,'),
    loaded.draft && ruleEditor(context, state, refuses, (ruleId) => void remove(context, ruleId)),
    loaded.proposals && importCard(context, refuses),
    rulesTable(state, loaded.rules?.rules ?? [], owner ? does : null, refuses),
    tryRequest(context, state),
  ];
}

/** @param {{import: () => void, make: () => void} | null} does */
const partHead = (does) =>
  h(
    'div',
    { class: 'settings-head' },
    h('h2', null, 'Rules'),
    h(
      'p',
      null,
      'Deny beats ask, ask beats allow. When Bascule can’t tell exactly what a request would do, it asks you.',
    ),
    does &&
      h(
        'span',
        { class: 'rule-actions' },
        h('button', { type: 'button', class: 'button quiet', onclick: does.import }, icon('export', 14), 'Import'),
        h('button', { type: 'button', class: 'button line newrule', onclick: does.make }, icon('plus', 14), 'New rule'),
      ),
  );

/**
 * @param {Context} context
 * @param {string} ruleId
 */
async function remove(context, ruleId) {
  const { app, loaded, again } = context;
  try {
    await app.feed.call('rules:remove', { ruleId, ...where(context) });
    loaded.rules = await app.feed.call('rules:list', where(context));
    app.note('The rule was removed. What it answered asks again.');
  } catch (error) {
    app.trouble(error);
  }
  again();
}

/**
 * @param {Context} context
 * @param {State} state
 */
async function propose(context, state) {
  const { app, loaded, again } = context;
  const folder = loaded.importFolder || foldersOf(state)[0] || '';
  try {
    loaded.proposals = await app.feed.call('rules:import', { ...(folder ? { folder } : {}), ...where(context) });
    loaded.importFolder = folder;
  } catch (error) {
    app.trouble(error);
  }
  again();
}
