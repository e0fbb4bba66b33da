/** A rule while it is being written: its fields, and the rule it stands for. Pure. */

import { own } from '../../js/tables.js';

/** @typedef {import('../../js/types.d.ts').RuleSpec} RuleSpec */
/**
 * @typedef {{
 *   answer: RuleSpec['answer'],
 *   toolClass: RuleSpec['toolClass'],
 *   text: string,
 *   folder: string,
 *   agent: string,
 *   days: number,
 *   replaces: string,
 * }} Draft
 */

const DAY = 86_400_000;
/** @type {Draft} */
export const FIRST_DRAFT = {
  answer: 'allow',
  toolClass: 'command',
  text: '',
  folder: '',
  agent: '',
  days: 0,
  replaces: '',
};

/**
 * The rule a draft stands for.
 * @param {Draft} draft
 * @returns {RuleSpec}
 */
export function specOf(draft) {
  const text = draft.text.trim();
  const more = draft.toolClass === 'command' && /\s(…|\.\.\.|\*)$/.test(text);
  const about = more ? text.replace(/\s+(…|\.\.\.|\*)$/, '') : text;
  const key = own({ command: 'argv', edit: 'path', read: 'path', fetch: 'host' }, draft.toolClass) ?? 'tool';
  return {
    answer: draft.answer,
    toolClass: draft.toolClass,
    ...(about ? { [key]: key === 'argv' ? about.split(' ') : about } : {}),
    ...(more ? { more } : {}),
    ...(draft.folder ? { folder: draft.folder } : {}),
    ...(draft.agent ? { agent: draft.agent } : {}),
    ...(draft.days ? { expiresAt: new Date(Date.now() + draft.days * DAY).toISOString() } : {}),
  };
}

/**
 * To change a rule that is kept.
 * @param {import('../../js/types.d.ts').RuleView} rule
 * @returns {Draft}
 */
export const draftOf = (rule) => ({
  answer: rule.answer,
  toolClass: rule.toolClass,
  text: rule.argv ? `${rule.argv.join(' ')}${rule.more ? ' …' : ''}` : (rule.path ?? rule.host ?? rule.tool ?? ''),
  folder: rule.folder ?? '',
  agent: rule.agent ?? '',
  days: 0,
  replaces: rule.id,
});
