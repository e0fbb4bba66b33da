/** What a prompt's template asks for: a row for each `{{name}}` in its text, to say of which kind it is. */

import { h } from '../../js/dom.js';
import { KINDS, splitChoices } from '../../js/template.js';
import { visible } from '../../js/visible.js';

/** @typedef {import('../../js/template.js').TemplateField} TemplateField */

/**
 * @param {TemplateField[]} fields
 * @param {(field: TemplateField) => void} change
 */
export const fieldRows = (fields, change) =>
  fields.length > 0 &&
  h(
    'section',
    { class: 'library-part', 'data-key': 'fields', 'aria-label': 'Fields' },
    h('h2', null, 'Fields'),
    fields.map((field) => fieldRow(field, change)),
  );

/**
 * @param {TemplateField} field
 * @param {(field: TemplateField) => void} change
 */
function fieldRow(field, change) {
  const set = (/** @type {Partial<TemplateField>} */ patch) => change({ ...field, ...patch });
  const hasChoices = field.kind === 'choice' || field.kind === 'choices';
  return h(
    'div',
    { class: 'field-row', 'data-key': field.name, role: 'group', 'aria-label': visible(field.name) },
    h('code', null, `{{${visible(field.name)}}}`),
    h(
      'select',
      {
        class: 'input',
        'aria-label': 'Kind',
        onchange: (/** @type {On<HTMLSelectElement>} */ event) =>
          set({ kind: /** @type {TemplateField['kind']} */ (event.currentTarget.value) }),
      },
      KINDS.map(([value, label]) => h('option', { value, selected: value === field.kind }, label)),
    ),
    field.kind !== 'literal' && [
      textInput('hint', 'Hint', 'Hint', field.hint, (hint) => set({ hint: hint.slice(0, 500) })),
      hasChoices &&
        textInput('choices', 'Choices', 'one, two, three', field.choices.join(', '), (text) =>
          set({ choices: splitChoices(text).slice(0, 100) }),
        ),
      textInput('default', 'Default', 'Default value', field.default, (text) => set({ default: text })),
    ],
  );
}

/**
 * @param {string} key
 * @param {string} label
 * @param {string} placeholder
 * @param {string} value
 * @param {(text: string) => void} change
 */
const textInput = (key, label, placeholder, value, change) =>
  h('input', {
    class: 'input',
    'data-key': key,
    'aria-label': label,
    placeholder,
    value,
    autocomplete: 'off',
    oninput: (/** @type {On<HTMLInputElement>} */ event) => change(event.currentTarget.value),
  });
