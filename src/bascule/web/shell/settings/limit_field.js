/** The value of one limit: as words, and for an owner as a field that changes it at once. */

import { h } from '../../js/dom.js';

/** @typedef {import('./parts.js').Context} Context */

/**
 * The largest unit that divides the value, so that what is shown is exact.
 * @type {Record<string, [number, string][]>}
 */
const UNITS = {
  time: [
    [3600, 'hours'],
    [60, 'minutes'],
    [1, 'seconds'],
  ],
  bytes: [
    [1024 * 1024, 'MB'],
    [1024, 'KB'],
    [1, 'bytes'],
  ],
  money: [[100, 'US dollars']],
  number: [[1, '']],
};

/**
 * @param {number} value
 * @param {string} kind
 */
const unitOf = (value, kind) =>
  UNITS[kind].find(([size]) => kind === 'money' || (value % size === 0 && value > 0)) ??
  UNITS[kind][Math.min(1, UNITS[kind].length - 1)];

/**
 * @param {Context} context
 * @param {{name: string, words: string, kind: string, value: number, say: (n: number) => string}} limit
 */
export function limitField(context, { name, words, kind, value, say }) {
  const { loaded, again } = context;
  const edit = (/** @type {string} */ which) => {
    loaded.editing = which;
    loaded.problem = '';
    again();
  };
  if (loaded.editing !== name)
    return h(
      'span',
      { class: 'limit-field' },
      h('span', null, say(value)),
      h(
        'button',
        { type: 'button', class: 'button is-small quiet', 'aria-label': `Change: ${words}`, onclick: () => edit(name) },
        'Change',
      ),
    );
  const [size, unit] = unitOf(value, kind);
  return h(
    'form',
    {
      class: 'limit-field',
      'data-key': `edit ${name}`,
      onsubmit: (/** @type {On<HTMLFormElement>} */ event) => {
        event.preventDefault();
        const typed = Number(new FormData(event.currentTarget).get('value'));
        void setLimit(context, name, Math.round(typed * size));
      },
      onkeydown: (/** @type {On<HTMLElement, KeyboardEvent>} */ event) => {
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        edit('');
      },
    },
    h('input', {
      class: 'input limit-field__value',
      type: 'number',
      name: 'value',
      min: 0,
      step: 'any',
      required: true,
      autofocus: true,
      value: String(value / size),
      'aria-label': `${words}, ${unit || 'number'}, 0 for no limit`,
    }),
    unit && h('span', null, unit),
    h('button', { type: 'submit', class: 'button is-small is-primary' }, 'Save'),
    h('button', { type: 'button', class: 'button is-small quiet', onclick: () => edit('') }, 'Cancel'),
  );
}

/**
 * @param {Context} context
 * @param {string} name
 * @param {number | null} value null goes back to the settings file's
 */
export async function setLimit({ app, loaded, again }, name, value) {
  try {
    loaded.limits = await app.api.setLimits({ [name]: value });
    loaded.editing = '';
  } catch (error) {
    app.trouble(error);
  }
  again();
}
