/** A command that an agent might ask to run, and how the rules would answer it. */

import { where } from '../settings/machine_picker.js';
import { h } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { visible } from '../../js/visible.js';
import { agentOptions, foldersOf, places, select } from './fields.js';
import { answerBadge, coded } from './format.js';

/** @typedef {import('../settings/parts.js').Context} Context */
/** @typedef {import('../state.js').State} State */
/**
 * @typedef {{
 *   folder: string,
 *   agent: string,
 *   text: string,
 *   result?: import('../../js/types.d.ts').Tried | null,
 *   problem: string,
 * }} Tried
 */

/**
 * @param {Context} context
 * @param {State} state
 */
export function tryRequest(context, state) {
  const { loaded } = context;
  const tried = (loaded.tried ??= { folder: '', agent: '', text: '', result: null, problem: '' });
  const folder = tried.folder || foldersOf(state)[0] || '';
  const onsubmit = (/** @type {Event} */ event) => {
    event.preventDefault();
    void ask(context, tried, folder);
  };
  return h(
    'form',
    { class: 'card settings-card tryit', 'data-key': 'try', onsubmit },
    h('h3', null, 'Try a request'),
    whoAndWhere(context, state, tried, folder),
    h(
      'div',
      { class: 'form-row' },
      h('input', {
        class: 'input mono grow',
        name: 'request',
        value: tried.text,
        'aria-label': 'Command',
        placeholder: 'pytest -q && rm -rf build',
        spellcheck: 'false',
        autocomplete: 'off',
        maxlength: 2000,
        oninput: (/** @type {On<HTMLInputElement>} */ event) => {
          tried.text = event.currentTarget.value;
        },
      }),
      h('button', { class: 'button line', type: 'submit' }, 'Try'),
    ),
    tried.problem && h('p', { class: 'error-message', role: 'alert' }, icon('alert', 14), visible(tried.problem)),
    tried.result &&
      h(
        'p',
        { class: 'verdict', role: 'status' },
        answerBadge(tried.result.answer),
        h('span', null, coded(tried.result.why)),
      ),
  );
}

/**
 * @param {Context} context
 * @param {State} state
 * @param {Tried} tried
 * @param {string} folder
 */
function whoAndWhere({ again }, state, tried, folder) {
  const set = (/** @type {Partial<Tried>} */ some) => {
    Object.assign(tried, some, { result: null });
    again();
  };
  const folders = places(state, folder).filter(([one]) => one);
  const agents = agentOptions(state, 'an agent');
  return h(
    'p',
    { class: 'tryline' },
    'If ',
    h(
      'span',
      { class: 'try-select' },
      select('tagent', agents, tried.agent, (agent) => set({ agent }), 'Agent'),
    ),
    ' in ',
    h(
      'span',
      { class: 'try-select' },
      select('tfolder', folders, folder, (value) => set({ folder: value }), 'Folder'),
    ),
    ' asks to run',
  );
}

/**
 * @param {Context} context
 * @param {Tried} tried
 * @param {string} folder
 */
async function ask(context, tried, folder) {
  const { app, again } = context;
  /** @type {import('../../js/types.d.ts').TryRequest} */
  const request = {
    toolClass: 'command',
    text: tried.text,
    ...(folder ? { folder } : {}),
    ...(tried.agent ? { agent: tried.agent } : {}),
  };
  try {
    tried.result = (await app.feed.call('rules:try', { request, ...where(context) })).tried;
    tried.problem = '';
  } catch (error) {
    tried.problem = /** @type {Error} */ (error).message;
  }
  again();
}
