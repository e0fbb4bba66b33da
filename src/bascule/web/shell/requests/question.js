/** A question of the agent: cards to choose from, words of one's own; only the button sends. */

import { h } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { visible } from '../../js/visible.js';
import { count, waited } from '../../js/format.js';
import { header } from './permission.js';
import { agentTitle } from '../state.js';
import { table } from '../../js/tables.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').OpenRequest} OpenRequest */
/** @typedef {ReadonlyMap<string, {picked: string[], free: string}>} Draft by question text */

const LONG = 5 * 60 * 1000; // then a person is reminded that the agent stands still

/**
 * What would be sent, or null while a question has no answer.
 * @param {any[]} questions
 * @param {Draft} draft
 * @returns {Record<string, string> | null}
 */
export function answersOf(questions, draft) {
  /** @type {Record<string, string>} */
  const answers = table();
  for (const one of questions) {
    const given = draft.get(one.question);
    const parts = [...(given?.picked ?? []), given?.free.trim() ?? ''].filter(Boolean);
    if (!parts.length) return null;
    answers[one.question] = parts.join(', ');
  }
  return answers;
}

/**
 * @param {App} app
 * @param {import('../state.js').State} state
 * @param {OpenRequest} ask
 * @param {{
 *   at: number,
 *   all: OpenRequest[],
 *   modal: boolean,
 *   inert: boolean,
 *   draft: Draft,
 *   onPick: (step: number) => void,
 *   onDraft: (draft: Draft) => void,
 *   send: (ask: OpenRequest, command: Record<string, any>) => void,
 * }} turn
 */
export function questionCard(app, state, ask, turn) {
  const questions = ask.asked.questions;
  const agent = agentTitle(state, state.sessions[ask.session_id]?.agent ?? '');
  const answers = answersOf(questions, turn.draft);
  const done = questions.filter((/** @type {any} */ one) => answersOf([one], turn.draft)).length;
  const waits = turn.inert || Boolean(ask.sending);
  const since = Date.now() - Date.parse(ask.opened_at);
  const long = since > LONG;
  const limit = state.me?.waits?.question ?? 0;
  let number = 0;
  return h(
    'section',
    {
      class: `ask q ${turn.inert ? 'inert' : ''}`,
      role: 'dialog',
      'aria-modal': turn.modal ? 'true' : null,
      'aria-labelledby': 'ask-title',
      tabindex: -1,
      'data-key': `${ask.session_id}/${ask.request_id}`,
      onkeydown: (/** @type {KeyboardEvent} */ event) => keys(event),
    },
    header(
      app,
      state,
      ask,
      questions.length === 1 ? `${agent} asks you something` : `${agent} asks you ${count(questions.length, 'thing')}`,
      turn,
    ),
    h('div', { class: 'guard', 'data-key': 'guard' }),
    h(
      'div',
      { class: 'askb', 'data-key': 'body' },
      h(
        'div',
        { class: 'body tall' },
        questions.map((/** @type {any} */ one, /** @type {number} */ n) => questionPart(one, n)),
      ),
      long &&
        h(
          'p',
          { class: 'warn late', role: 'status' },
          icon('clock', 14),
          `${agent} has waited for ${waited(since)} and stands still until you answer.` +
            (limit ? ` After ${waited(limit * 1000)} it is told there is no answer.` : ''),
        ),
    ),
    h(
      'footer',
      { 'data-key': 'foot' },
      h(
        'button',
        {
          type: 'button',
          class: 'btn quiet',
          disabled: waits,
          onclick: () =>
            turn.send(ask, {
              answers: {},
              message: 'The user did not answer. Decide yourself and say what you chose.',
            }),
        },
        'Skip, let it decide',
      ),
      h('span', { class: 'sp' }),
      h(
        'span',
        { class: 'hint' },
        ask.sending ||
          (questions.length > 1
            ? `${done} of ${questions.length} answered`
            : limit && !long
              ? `After ${waited(limit * 1000)} without an answer the agent is told there is none`
              : ''),
      ),
      h(
        'button',
        {
          type: 'button',
          class: 'btn pri allow',
          disabled: waits || !answers,
          title: answers ? null : 'Answer each question first',
          onclick: () => answers && turn.send(ask, { answers }),
        },
        questions.length === 1 ? 'Send answer' : 'Send answers',
      ),
    ),
  );

  /**
   * @param {any} one
   * @param {number} n
   */
  function questionPart(one, n) {
    const given = turn.draft.get(one.question) ?? { picked: [], free: '' };
    const set = (/** @type {Partial<{picked: string[], free: string}>} */ patch) =>
      turn.onDraft(new Map(turn.draft).set(one.question, { ...given, ...patch }));
    const options = one.options ?? [];
    return h(
      'fieldset',
      { class: 'qf', 'data-key': `q${n}` },
      h('h3', { class: n ? 'h2q' : '' }, visible(one.question), one.multi_select && h('small', null, 'Pick any')),
      h(
        'div',
        { class: `opts ${one.multi_select && options.length > 2 ? 'two' : ''}` },
        options.map((/** @type {any} */ option) => {
          const on = given.picked.includes(option.label);
          const key = ++number;
          return h(
            'label',
            { class: `opt ${on ? 'sel' : ''}` },
            h('input', {
              type: one.multi_select ? 'checkbox' : 'radio',
              name: `q${n}-${ask.request_id}`,
              checked: on,
              'data-number': key,
              onchange: () =>
                set({
                  picked: one.multi_select
                    ? on
                      ? given.picked.filter((label) => label !== option.label)
                      : [...given.picked, option.label]
                    : [option.label],
                  ...(one.multi_select ? {} : { free: '' }),
                }),
            }),
            h('span', { class: `box ${one.multi_select ? 'sq' : ''}` }, on && one.multi_select && icon('check', 12)),
            h(
              'span',
              { class: 'ot' },
              h('b', null, visible(option.label)),
              option.description && h('small', null, visible(option.description)),
              option.preview && h('span', { class: 'pv' }, visible(option.preview)),
            ),
            key < 10 && h('kbd', null, String(key)),
          );
        }),
      ),
      h(
        'label',
        { class: 'free' },
        h('span', null, options.length ? 'Or in your own words' : 'Your answer'),
        h('input', {
          class: 'inp',
          value: given.free,
          maxlength: 4000,
          'aria-label': 'In your own words',
          oninput: (/** @type {any} */ event) =>
            set({
              free: event.currentTarget.value,
              ...(one.multi_select ? {} : { picked: event.currentTarget.value ? [] : given.picked }),
            }),
        }),
      ),
    );
  }

  /** @param {KeyboardEvent} event */
  function keys(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    if (
      target.matches('input:not([type=radio]):not([type=checkbox])') ||
      event.ctrlKey ||
      event.metaKey ||
      event.altKey
    )
      return;
    if (!/^[1-9]$/.test(event.key)) return;
    /** @type {HTMLElement | null} */ (
      /** @type {HTMLElement} */ (event.currentTarget).querySelector(`[data-number="${event.key}"]`)
    )?.click();
    event.preventDefault();
  }
}
