/** The form that asks for a template's fields, an input of its own kind for each. */

import { h } from '../../js/dom.js';
import { visible } from '../../js/visible.js';

/** @typedef {import('../../js/template.js').TemplateField} TemplateField */
/** @typedef {import('../../js/template.js').Values} Values */
/**
 * How paths are completed.
 * @typedef {(typed: string) => Promise<string[]>} Complete
 */

/**
 * @param {TemplateField[]} fields
 * @param {Values} values
 * @param {(name: string, value: string | string[]) => void} set
 * @param {{file: Complete, folder: Complete}} complete
 */
export const askFields = (fields, values, set, complete) =>
  fields
    .filter((field) => field.kind !== 'literal')
    .map((field) =>
      field.kind === 'choices'
        ? severalChoices(field, /** @type {string[]} */ (values[field.name] ?? []), set)
        : h(
            'label',
            { class: 'ask-field', 'data-key': field.name },
            h('span', null, visible(field.name), field.hint && h('small', null, visible(field.hint))),
            inputFor(field, String(values[field.name] ?? ''), (value) => set(field.name, value), complete),
          ),
    );

/**
 * @param {TemplateField} field
 * @param {string} value
 * @param {(value: string) => void} set
 * @param {{file: Complete, folder: Complete}} complete
 */
function inputFor(field, value, set, complete) {
  const oninput = (/** @type {On<HTMLInputElement>} */ event) => set(event.currentTarget.value);
  switch (field.kind) {
    case 'choice':
      return h(
        'select',
        { class: 'input', onchange: oninput },
        h('option', { value: '', selected: !value }, 'Choose'),
        field.choices.map((choice) => h('option', { value: choice, selected: choice === value }, visible(choice))),
      );
    case 'number':
      return h('input', { class: 'input', inputmode: 'decimal', autocomplete: 'off', value, oninput });
    case 'file':
    case 'folder':
      return pathInput(field.name, value, set, complete[field.kind]);
    case 'code':
      return h('textarea', { class: 'input mono', rows: 6, spellcheck: 'false', value, oninput });
    default:
      return h('textarea', { class: 'input', rows: 2, value, oninput });
  }
}

/**
 * @param {string} name
 * @param {string} value
 * @param {(value: string) => void} set
 * @param {Complete} complete
 */
function pathInput(name, value, set, complete) {
  const id = `paths-${name.replace(/[^\p{L}\p{N}]/gu, '-')}`;
  let asked = 0;
  const oninput = async (/** @type {On<HTMLInputElement>} */ event) => {
    const typed = event.currentTarget.value;
    set(typed);
    const number = ++asked;
    const paths = await complete(typed).catch(() => []); // completing is a help, not more
    const list = document.getElementById(id);
    if (number === asked && list)
      list.replaceChildren(...paths.slice(0, 20).map((path) => h('option', { value: path })));
  };
  return h(
    'span',
    { class: 'path-input' },
    h('input', { class: 'input mono', list: id, autocomplete: 'off', spellcheck: 'false', value, oninput }),
    h('datalist', { id, 'data-island': '', 'data-key': id }),
  );
}

/**
 * @param {TemplateField} field
 * @param {string[]} chosen
 * @param {(name: string, value: string[]) => void} set
 */
const severalChoices = (field, chosen, set) =>
  h(
    'fieldset',
    { class: 'ask-field', 'data-key': field.name },
    h('legend', null, visible(field.name), field.hint && h('small', null, visible(field.hint))),
    field.choices.map((choice) =>
      h(
        'label',
        { class: 'library-check', 'data-key': choice },
        h('input', {
          type: 'checkbox',
          checked: chosen.includes(choice),
          onchange: (/** @type {On<HTMLInputElement>} */ event) =>
            set(
              field.name,
              field.choices.filter((other) =>
                other === choice ? event.currentTarget.checked : chosen.includes(other),
              ),
            ),
        }),
        visible(choice),
      ),
    ),
  );
