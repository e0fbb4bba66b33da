/** The rules that are kept, as a table. */

import { h, iconButton } from '../../js/dom.js';
import { folderName } from '../../js/format.js';
import { own } from '../../js/tables.js';
import { visible } from '../../js/visible.js';
import { agentTitle } from '../sessions.js';
import { answerBadge } from './format.js';

/** @typedef {import('../state.js').State} State */

const EVERY = {
  command: 'Run any command',
  edit: 'Edit files',
  read: 'Read files',
  fetch: 'Fetch any web page',
  mcp: 'Use any MCP tool',
};

/** @typedef {import('../../js/types.d.ts').RuleView} RuleView */
/** @typedef {{change: (rule: RuleView) => void, remove: (rule: RuleView) => void}} Changes */

/** @param {RuleView} rule */
function whatOf(rule) {
  if (rule.argv) return ['Run ', h('code', null, visible(`${rule.argv.join(' ')}${rule.more ? ' …' : ''}`))];
  if (rule.path) return [rule.toolClass === 'read' ? 'Read ' : 'Edit ', h('code', null, visible(rule.path))];
  if (rule.host) return ['Open ', h('code', null, visible(rule.host))];
  if (rule.tool) return ['Use ', h('code', null, visible(rule.tool))];
  return [own(EVERY, rule.toolClass) ?? 'Use any other tool'];
}

/**
 * @param {State} state
 * @param {RuleView} rule
 */
function whereOf(state, rule) {
  const where = rule.sessionId
    ? 'in one session'
    : rule.folder
      ? ['in ', h('b', { title: visible(rule.folder) }, visible(folderName(rule.folder)))]
      : ['in ', h('b', null, 'every project')];
  return [where, rule.agent ? `, ${visible(agentTitle(state, rule.agent))}` : ''].flat();
}

/** @param {RuleView} rule */
export function howLong(rule) {
  if (rule.expired) return 'over';
  if (rule.expiresAt) return `until ${new Date(rule.expiresAt).toLocaleDateString(undefined, { dateStyle: 'medium' })}`;
  return rule.sessionId ? 'this session' : 'always';
}

/**
 * @param {State} state
 * @param {RuleView[]} rules
 * @param {Changes | null} does null for who may only look
 * @param {import('../state.js').Device | undefined} refuses the machine that takes from here only what narrows
 */
export const rulesTable = (state, rules, does, refuses) =>
  h(
    'div',
    { class: 'table-frame' },
    h(
      'table',
      { class: 'data-table rules' },
      h(
        'thead',
        null,
        h(
          'tr',
          null,
          ['Answer', 'What', 'Where', 'How long', 'Used', ''].map((one) =>
            h('th', null, one || h('span', { class: 'spoken' }, 'Action')),
          ),
        ),
      ),
      h(
        'tbody',
        null,
        rules.map((rule) => ruleRow(state, rule, does, Boolean(refuses))),
        restRow(rules.length > 0),
      ),
    ),
  );

/**
 * @param {State} state
 * @param {RuleView} rule
 * @param {Changes | null} does
 * @param {boolean} narrows whether it may only be taken away, and only if it allows
 */
const ruleRow = (state, rule, does, narrows) =>
  h(
    'tr',
    { 'data-key': rule.id, class: rule.expired ? 'over' : '', title: visible(rule.words) },
    h('td', null, answerBadge(rule.answer)),
    h('td', null, whatOf(rule)),
    h('td', null, whereOf(state, rule)),
    h('td', null, howLong(rule)),
    h('td', null, `${rule.used ?? 0}×`),
    h(
      'td',
      null,
      does &&
        h(
          'span',
          { class: 'rule-row__actions' },
          !rule.sessionId && !narrows && iconButton('edit', 'Change this rule', { onclick: () => does.change(rule) }),
          (!narrows || rule.answer === 'allow') &&
            iconButton('trash', 'Remove this rule', { class: 'rule-row__delete', onclick: () => does.remove(rule) }),
        ),
    ),
  );

/** @param {boolean} others whether there are rules */
const restRow = (others) =>
  h(
    'tr',
    { 'data-key': 'rest' },
    h('td', null, answerBadge('ask')),
    h('td', null, others ? 'Everything else' : 'Everything, or as the session’s mode says'),
    h('td'),
    h('td'),
    h('td'),
    h('td'),
  );
