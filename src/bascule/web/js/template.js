/** Templates: the fields that a prompt's text asks for as `{{name}}`, and the text with their values in. Pure. */

/** @typedef {Required<import('./types.d.ts').TemplateField>} TemplateField */
/** @typedef {Record<string, string | string[]>} Values what a person gave, by the field's name */

const PLACE = /\{\{[ \t]*([\p{L}\p{N}](?:[\p{L}\p{N} _.-]{0,62}[\p{L}\p{N}_.-])?)[ \t]*\}\}/gu;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/iu;
export const MAX_FIELDS = 100;

/** The kinds of fields, with their names for people. */
export const KINDS = /** @type {const} */ ([
  ['text', 'Text'],
  ['number', 'Number'],
  ['choice', 'A choice'],
  ['choices', 'Several choices'],
  ['file', 'File'],
  ['folder', 'Folder'],
  ['code', 'Code'],
  ['literal', 'No field: leave it as it is'],
]);

/**
 * The names in a text, each once, in the order of their first place.
 * @param {string} text
 * @returns {string[]}
 */
export function namesIn(text) {
  const names = new Set([...text.matchAll(PLACE)].map((found) => found[1]));
  return [...names].slice(0, MAX_FIELDS);
}

/**
 * The fields of a text: those that are described, and plain ones for the other names.
 * @param {string} text
 * @param {TemplateField[]} described
 * @returns {TemplateField[]}
 */
export function fieldsOf(text, described) {
  return namesIn(text).map((name) => described.find((field) => field.name === name) ?? plainField(name));
}

/**
 * @param {string} name
 * @returns {TemplateField}
 */
export const plainField = (name) => ({ name, kind: 'text', hint: '', choices: [], default: '' });

/**
 * What a field begins with.
 * @param {TemplateField} field
 * @returns {string | string[]}
 */
export function firstValue({ kind, default: first, choices }) {
  if (kind === 'choices') return splitChoices(first).filter((choice) => choices.includes(choice));
  if (kind === 'choice' && !choices.includes(first)) return '';
  return first;
}

/** @param {string} text */
export const splitChoices = (text) =>
  text
    .split(/[\n,]/u)
    .map((one) => one.trim())
    .filter(Boolean);

/**
 * What is wrong with a value, in words; empty when nothing is.
 * @param {TemplateField} field
 * @param {string | string[] | undefined} value
 */
export function problemWith(field, value) {
  if (field.kind === 'literal') return '';
  if (value === undefined || value.length === 0 || (typeof value === 'string' && !value.trim()))
    return `${field.name} is empty.`;
  if (field.kind === 'number' && !NUMBER.test(String(value).trim())) return `${field.name} is not a number.`;
  return '';
}

/**
 * The text with every field's value in its place. A field without a value stays as it is written.
 * @param {string} text
 * @param {TemplateField[]} fields
 * @param {Values} values
 */
export function filled(text, fields, values) {
  const kinds = new Map(fields.map((field) => [field.name, field.kind]));
  return text.replace(PLACE, (/** @type {string} */ whole, /** @type {string} */ name, /** @type {number} */ at) => {
    const kind = kinds.get(name) ?? 'text';
    const value = values[name];
    if (kind === 'literal' || value === undefined || value.length === 0) return whole;
    if (kind === 'code' && isAlone(text, at, at + whole.length)) return fenced(String(value));
    return Array.isArray(value) ? value.join(', ') : kind === 'number' ? value.trim() : value;
  });
}

/**
 * Whether nothing else stands on its line.
 * @param {string} text
 * @param {number} from
 * @param {number} to
 */
function isAlone(text, from, to) {
  const before = text.slice(text.lastIndexOf('\n', from - 1) + 1, from);
  const next = text.indexOf('\n', to);
  return !before.trim() && !text.slice(to, next < 0 ? undefined : next).trim();
}

/** @param {string} code */
function fenced(code) {
  const longest = (code.match(/`+/gu) ?? []).reduce((most, run) => Math.max(most, run.length), 0);
  const fence = '`'.repeat(Math.max(3, longest + 1));
  return `${fence}\n${code.replace(/\n$/u, '')}\n${fence}`;
}

/**
 * A prompt after the blocks that stand before it, an empty line between each.
 * @param {string[]} contexts
 * @param {string} text
 */
export const after = (contexts, text) =>
  [...contexts, text]
    .map((part) => part.replace(/^\n+|\s+$/gu, ''))
    .filter(Boolean)
    .join('\n\n');
