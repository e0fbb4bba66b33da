/** A question of the agent: cards to choose from, words of one's own; only the button sends. */

import { h } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { visible } from '../../js/visible.js';
import { count, limitTime, waited } from '../../js/format.js';
import { header } from './card_header.js';
import { agentTitle } from '../sessions.js';
import { table } from '../../js/tables.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').OpenQuestion} OpenQuestion */
/** @typedef {import('./requests.js').Turn} Turn */
/** @typedef {import('../../js/types.d.ts').Question} Question */
/** @typedef {import('../state.js').State} State */
/** @typedef {{picked: string[], free: string}} Given */
/** @typedef {ReadonlyMap<string, Given>} Draft by question text */

const LONG = 5 * 60 * 1000; // milliseconds; then a person is reminded that the agent stands still
const SKIPPED = 'The user did not answer. Decide yourself and say what you chose.';
/** @type {Given} */
const NOTHING = { picked: [], free: '' };

/**
 * What would be sent, or null while a question has no answer.
 * @param {Question[]} questions
 * @param {Draft} draft
 * @returns {Record<string, string> | null}
 */
export function answersOf(questions, draft) {
  /** @type {Record<string, string>} */
  const answers = table();
  for (const question of questions) {
    const given = draft.get(question.question);
    const parts = [...(given?.picked ?? []), given?.free.trim() ?? ''].filter(Boolean);
    if (!parts.length) return null;
    answers[question.question] = parts.join(', ');
  }
  return answers;
}

/**
 * @param {App} app
 * @param {State} state
 * @param {OpenQuestion} ask
 * @param {Turn} turn
 */
export function questionCard(app, state, ask, turn) {
  const questions = ask.asked.questions;
  const agent = agentTitle(state, state.sessions[ask.session_id]?.agent ?? '');
  const title =
    questions.length === 1 ? `${agent} has a question` : `${agent} has ${count(questions.length, 'question')}`;
  return h(
    'section',
    {
      class: `request question ${turn.inert ? 'inert' : ''}`,
      role: 'dialog',
      'aria-modal': turn.modal ? 'true' : null,
      'aria-labelledby': 'ask-title',
      tabindex: -1,
      'data-key': `${ask.session_id}/${ask.request_id}`,
    },
    header(app, state, ask, title, turn),
    h('div', { class: 'guard', 'data-key': 'guard' }),
    h(
      'div',
      { class: 'request__body', 'data-key': 'body' },
      h(
        'div',
        { class: 'body tall' },
        questions.map((_, n) => questionPart(ask, n, turn)),
      ),
      lateNote(state, ask, agent),
    ),
    foot(state, ask, turn),
  );
}

/** @param {OpenQuestion} ask */
const waitedFor = (ask) => Date.now() - Date.parse(ask.opened_at);

/** @param {State} state */
const limitOf = (state) => state.me?.waits?.question ?? 0;

/**
 * @param {State} state
 * @param {OpenQuestion} ask
 * @param {string} agent
 */
const lateNote = (state, ask, agent) =>
  waitedFor(ask) > LONG &&
  h(
    'p',
    { class: 'warn late', role: 'status' },
    icon('clock', 14),
    `${agent} has waited for ${waited(waitedFor(ask))} and can’t continue until you answer.` +
      (limitOf(state) ? ` After ${limitTime(limitOf(state))} it continues without one.` : ''),
  );

/**
 * @param {State} state
 * @param {OpenQuestion} ask
 * @param {Turn} turn
 */
function hint(state, ask, turn) {
  const questions = ask.asked.questions;
  if (ask.sending) return ask.sending;
  if (questions.length > 1) {
    const done = questions.filter((question) => answersOf([question], turn.draft)).length;
    return `${done} of ${questions.length} answered`;
  }
  return limitOf(state) && waitedFor(ask) <= LONG
    ? `After ${limitTime(limitOf(state))} without an answer the agent continues without it`
    : '';
}

/**
 * @param {State} state
 * @param {OpenQuestion} ask
 * @param {Turn} turn
 */
function foot(state, ask, turn) {
  const answers = answersOf(ask.asked.questions, turn.draft);
  const waits = turn.inert || Boolean(ask.sending);
  const skip = () => turn.send(ask, { answers: {}, message: SKIPPED });
  return h(
    'footer',
    { 'data-key': 'foot' },
    h('button', { type: 'button', class: 'button quiet', disabled: waits, onclick: skip }, 'Let it decide'),
    h('span', { class: 'spacer' }),
    h('span', { class: 'hint' }, hint(state, ask, turn)),
    h(
      'button',
      {
        type: 'button',
        class: 'button is-primary allow',
        disabled: waits || !answers,
        title: answers ? null : 'Answer each question first',
        onclick: () => answers && turn.send(ask, { answers }),
      },
      ask.asked.questions.length === 1 ? 'Send answer' : 'Send answers',
    ),
  );
}

/**
 * @param {OpenQuestion} ask
 * @param {number} n
 * @param {Turn} turn
 */
function questionPart(ask, n, turn) {
  const question = ask.asked.questions[n];
  const given = turn.draft.get(question.question) ?? NOTHING;
  const set = (/** @type {Partial<Given>} */ patch) =>
    turn.onDraft(new Map(turn.draft).set(question.question, { ...given, ...patch }));
  const options = question.options ?? [];
  const before = ask.asked.questions.slice(0, n).flatMap((other) => other.options ?? []).length;
  return h(
    'fieldset',
    { class: 'question__fieldset', 'data-key': `q${n}` },
    h(
      'h3',
      { class: n ? 'question__next' : '', dir: 'auto' },
      visible(question.question),
      question.multi_select && h('small', null, 'Pick any'),
    ),
    h(
      'div',
      { class: `options ${question.multi_select && options.length > 2 ? 'is-double' : ''}` },
      options.map((option, at) =>
        optionCard(option, {
          name: `q${n}-${ask.request_id}`,
          many: Boolean(question.multi_select),
          on: given.picked.includes(option.label),
          number: before + at + 1,
          pick: () => set(picked(question, given, option.label)),
        }),
      ),
    ),
    freeField(question, given, set),
  );
}

/**
 * What a question is given once an option was pressed.
 * @param {{multi_select?: boolean}} question
 * @param {Given} given
 * @param {string} label
 * @returns {Partial<Given>}
 */
export function picked(question, given, label) {
  if (!question.multi_select) return { picked: [label], free: '' };
  const on = given.picked.includes(label);
  return { picked: on ? given.picked.filter((one) => one !== label) : [...given.picked, label] };
}

/**
 * @param {import('../../js/types.d.ts').QuestionOption} option
 * @param {{name: string, many: boolean, on: boolean, number: number, pick: () => void}} about
 */
const optionCard = (option, { name, many, on, number, pick }) =>
  h(
    'label',
    { class: `option ${on ? 'is-selected' : ''}` },
    h('input', {
      type: many ? 'checkbox' : 'radio',
      name,
      checked: on,
      'data-number': number,
      onchange: pick,
    }),
    h('span', { class: `option__box ${many ? 'is-square' : ''}` }, on && many && icon('check', 12)),
    h(
      'span',
      { class: 'option__text' },
      h('b', { dir: 'auto' }, visible(option.label)),
      option.description && h('small', { dir: 'auto' }, visible(option.description)),
      option.preview && h('span', { class: 'option__preview' }, visible(option.preview)),
    ),
    number < 10 && h('kbd', null, String(number)),
  );

/**
 * @param {Question} question
 * @param {Given} given
 * @param {(patch: Partial<Given>) => void} set
 */
const freeField = (question, given, set) =>
  h(
    'label',
    { class: 'free' },
    h('span', null, question.options?.length ? 'Or write your own answer' : 'Your answer'),
    h('input', {
      class: 'input',
      dir: 'auto',
      value: given.free,
      maxlength: 4000,
      'aria-label': 'Your own answer',
      oninput: (/** @type {On<HTMLInputElement>} */ event) => {
        const free = event.currentTarget.value;
        set({ free, ...(question.multi_select ? {} : { picked: free ? [] : given.picked }) });
      },
    }),
  );

/**
 * @param {HTMLElement} root
 * @param {string} pressed
 * @returns {boolean} whether it stands for an option
 */
export function pickByNumber(root, pressed) {
  if (!/^[1-9]$/.test(pressed)) return false;
  const option = /** @type {HTMLElement | null} */ (root.querySelector(`[data-number="${pressed}"]`));
  option?.click();
  return Boolean(option);
}
