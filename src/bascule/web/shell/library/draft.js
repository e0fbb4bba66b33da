/** A prompt while somebody writes it: what it is made of, whether it differs from what is saved, what is kept. Pure. */

import { deltaToText } from '../../js/delta.js';
import { EMPTY, checkedDelta } from '../../js/delta_check.js';
import { fieldsOf, isWhole } from '../../js/json.js';
import { MAX_FIELDS, plainField } from '../../js/template.js';

/** @typedef {import('../../js/types.d.ts').PromptContent} Sent */
/** @typedef {Required<Omit<Sent, 'fields'>> & {fields: TemplateField[]}} Content */
/** @typedef {import('../../js/types.d.ts').PromptView} Prompt */
/** @typedef {import('../../js/template.js').TemplateField} TemplateField */
/**
 * A draft, and the version it began from; 0 when nothing is saved yet.
 * @typedef {{base: number, content: Content}} Draft
 */

const MAX_TITLE = 80;
const MAX_TAGS = 30;

/**
 * @param {Partial<Content>} [some]
 * @returns {Content}
 */
export const newContent = (some = {}) => ({
  title: '',
  kind: 'prompt',
  projectId: null,
  tags: [],
  fields: [],
  contexts: [],
  always: false,
  delta: EMPTY,
  ...some,
});

/**
 * What the server or this browser's storage has, with everything in it.
 * @param {Sent} content
 * @returns {Content}
 */
export const wholeContent = (content) => ({
  ...newContent(),
  ...content,
  fields: (content.fields ?? []).map((field) => ({ ...plainField(field.name), ...field })),
});

/**
 * @param {Content} one
 * @param {Content} other
 */
export const isSame = (one, other) => JSON.stringify(ordered(one)) === JSON.stringify(ordered(other));

/**
 * The same parts in the same order, by any author.
 * @param {Content} content
 */
function ordered({ title, kind, projectId, tags, fields, contexts, always, delta }) {
  const asked = fields.map((field) => [field.name, field.kind, field.hint, field.choices, field.default]);
  const ops = delta.ops.map((op) => [op.insert, Object.entries(op.attributes ?? {}).sort()]);
  return [title, kind, projectId ?? null, tags, asked, contexts, always, ops];
}

/** @param {Content} content */
export const isEmpty = (content) => !content.title.trim() && !deltaToText(content.delta).trim();

/**
 * A name for a text without one: how it begins.
 * @param {string} text
 */
export function titleFrom(text) {
  const first = text.split('\n').find((line) => line.trim()) ?? '';
  const words = first.replace(/^[\s#>*-]+/u, '').trim();
  return (words.length > MAX_TITLE ? `${words.slice(0, MAX_TITLE - 1).trimEnd()}…` : words) || 'Untitled';
}

/**
 * The draft as it is saved: named, with tags once each.
 * @param {Content} content
 * @returns {Content}
 */
export function savable(content) {
  const tags = [...new Set(content.tags.map((tag) => tag.trim().slice(0, 50)).filter(Boolean))].slice(0, MAX_TAGS);
  return {
    ...content,
    title: content.title.trim().slice(0, 500) || titleFrom(deltaToText(content.delta)),
    tags,
    fields: content.fields.slice(0, MAX_FIELDS),
    always: content.kind === 'context' && content.always,
  };
}

/**
 * A draft as this browser kept it; null for anything else.
 * @param {string | null} kept
 * @returns {Draft | null}
 */
export function readDraft(kept) {
  try {
    const { base, content: written } = fieldsOf(JSON.parse(kept ?? 'null'));
    const content = fieldsOf(written);
    const delta = checkedDelta(content.delta);
    if (!isWhole(base) || !delta || typeof content.title !== 'string') return null;
    return {
      base,
      content: wholeContent({ .../** @type {Partial<Content>} */ (content), title: content.title, delta }),
    };
  } catch {
    return null; // an unreadable note of ours is worth nothing
  }
}

/**
 * The described fields with one of them changed, or described for the first time.
 * @param {TemplateField[]} fields
 * @param {TemplateField} changed
 */
export const withField = (fields, changed) => [...fields.filter((field) => field.name !== changed.name), changed];
