/** A prompt too long for the text box: it goes with the task, whole, and is shown when somebody asks. */

import { h, iconButton } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { visible } from '../../js/visible.js';
import { openDialog } from '../library/dialog.js';

/** @typedef {{from: string, text: string}} LongPrompt */

/** @param {LongPrompt} prompt */
const lengthOf = ({ text }) => `${Array.from(text).length.toLocaleString('en')} characters`;

/**
 * @param {LongPrompt | null} prompt
 * @param {() => void} drop
 */
export function longPromptRow(prompt, drop) {
  if (!prompt) return null;
  const from = visible(prompt.from);
  return h(
    'ul',
    { class: 'remarks', 'aria-label': 'Goes with the task' },
    h(
      'li',
      { class: 'long-prompt' },
      icon('file', 14),
      h('b', null, from),
      h('span', null, lengthOf(prompt)),
      h('button', { type: 'button', class: 'button quiet is-small', onclick: () => show(prompt) }, 'Read it'),
      iconButton('x', `Remove the prompt from ${from}`, { class: 'is-small', onclick: drop }),
    ),
  );
}

/** @param {LongPrompt} prompt */
const show = (prompt) =>
  openDialog(`Prompt from ${visible(prompt.from)}`, () => [
    h(
      'section',
      { class: 'use-preview is-long', 'aria-label': 'As the agent gets it' },
      h('p', { class: 'caption' }, `As the agent gets it · ${lengthOf(prompt)}`),
      h('pre', { tabindex: 0 }, visible(prompt.text)),
    ),
  ]);
