/** The editor's buttons: each says whether the text at the cursor has its format, and gives or takes it. */

import { h } from '../js/dom.js';

/** @typedef {import('quill').default} Quill */
/** @typedef {{name: string, value: unknown, label: string, sign: string}} Format */

/** @type {Format[]} */
const FORMATS = [
  { name: 'bold', value: true, label: 'Bold (Ctrl B)', sign: 'B' },
  { name: 'italic', value: true, label: 'Italic (Ctrl I)', sign: 'I' },
  { name: 'strike', value: true, label: 'Strikethrough', sign: 'S' },
  { name: 'code', value: true, label: 'Code', sign: '`a`' },
  { name: 'header', value: 1, label: 'Heading', sign: 'H1' },
  { name: 'header', value: 2, label: 'Subheading', sign: 'H2' },
  { name: 'list', value: 'bullet', label: 'List', sign: '•' },
  { name: 'list', value: 'ordered', label: 'Numbered list', sign: '1.' },
  { name: 'list', value: 'unchecked', label: 'Check list', sign: '☐' },
  { name: 'blockquote', value: true, label: 'Quote', sign: '”' },
  { name: 'code-block', value: true, label: 'Code block', sign: '{ }' },
];
const FIELD = 'name';

/**
 * @param {HTMLElement} bar
 * @param {Quill} quill
 */
export function toolbar(bar, quill) {
  const buttons = FORMATS.map((format) => {
    const button = h(
      'button',
      { type: 'button', class: `k-${format.name}`, title: format.label, 'aria-label': format.label },
      format.sign,
    );
    button.onclick = () => apply(quill, format);
    return { format, button };
  });
  const field = h(
    'button',
    {
      type: 'button',
      class: 'k-field',
      title: 'A field, asked for when the prompt is used',
      onclick: () => addField(quill),
    },
    '{{ }} Field',
  );
  bar.replaceChildren(...buttons.map((button) => button.button), field);
  // The text keeps the focus, and with it the selection that is to be formatted.
  bar.onpointerdown = (event) => event.preventDefault();

  const show = () => {
    const range = quill.getSelection();
    const now = range ? quill.getFormat(range) : {};
    for (const { format, button } of buttons)
      button.setAttribute('aria-pressed', String(Boolean(range) && has(now[format.name], format.value)));
  };
  quill.on('editor-change', show);
  show();
}

/**
 * @param {unknown} now
 * @param {unknown} value
 */
const has = (now, value) => now === value || (value === true && Boolean(now)) || isCheck(now, value);

/**
 * An item that is done is an item of a check list, too.
 * @param {unknown} now
 * @param {unknown} value
 */
const isCheck = (now, value) => value === 'unchecked' && now === 'checked';

/**
 * @param {Quill} quill
 * @param {Format} format
 */
function apply(quill, { name, value }) {
  quill.focus();
  const now = quill.getFormat()[name];
  quill.format(name, has(now, value) ? false : value, 'user');
}

/** @param {Quill} quill */
function addField(quill) {
  const { index, length } = quill.getSelection(true);
  const chosen = length ? quill.getText(index, length).trim() : '';
  const name = /^[\p{L}\p{N}][\p{L}\p{N} _.-]{0,60}$/u.test(chosen) ? chosen : FIELD;
  if (length) quill.deleteText(index, length, 'user');
  quill.insertText(index, `{{${name}}}`, 'user');
  quill.setSelection(index + 2, name.length, 'user');
}
