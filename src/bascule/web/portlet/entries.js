/** Prompts, thoughts, plans, requests and questions as they stand in a transcript. */

import { h } from '../js/dom.js';
import { icon } from '../js/icons.js';
import { sanitize } from '../js/visible.js';
import { clockTime, count, duration } from '../js/format.js';
import { lineNote } from './session_notes.js';
import { exact, pictures } from './shown.js';
import { GrowingText } from './text.js';
import { who, whom } from './who.js';
import { own, table } from '../js/tables.js';

/** @typedef {import('./view.js').View} View */

const FOLD_LINES = 12;
const FOLD_LETTERS = 1200;

/**
 * @param {import('../js/types.d.ts').PromptEntry} entry
 * @param {(text: string) => void} keep in the prompt library
 * @param {((seq: number) => void) | null} edit and send in a new session; null: it can't be
 */
export function promptBox(entry, keep, edit) {
  const text = sanitize(entry.text);
  const long = text.length > FOLD_LETTERS || text.split('\n', FOLD_LINES + 1).length > FOLD_LINES;
  const said = h('div', { class: `said ${long ? 'is-folded' : ''}`.trim(), dir: 'auto' }, text);
  return h(
    'section',
    { class: 'user-message', 'data-prompt': entry.prompt_id, 'aria-label': `${who(entry.by) || 'A person'} wrote` },
    pictures(entry.images, 'Picture you sent'),
    said,
    long && unfoldButton(said),
    h(
      'footer',
      null,
      [who(entry.by), clockTime(entry.at)].filter(Boolean).join(' · '),
      h(
        'button',
        { type: 'button', class: 'user-message__keep', onclick: () => keep(entry.text) },
        icon('book', 12),
        'Save as prompt',
      ),
      edit &&
        h(
          'button',
          { type: 'button', class: 'user-message__edit', onclick: () => edit(entry.first_seq) },
          icon('edit', 12),
          'Edit and resend',
        ),
    ),
  );
}

/** @param {HTMLElement} said */
function unfoldButton(said) {
  const button = h('button', { type: 'button', class: 'user-message__more', 'aria-expanded': 'false' }, 'Show all');
  button.onclick = () => {
    const open = !said.classList.toggle('is-folded');
    button.setAttribute('aria-expanded', String(open));
    button.textContent = open ? 'Show less' : 'Show all';
  };
  return button;
}

/** A thought: one closed line, whose words are drawn once somebody opens it. */
export class Thought {
  /** @param {View} view */
  constructor(view) {
    this.verb = h('span', { class: 'entry-line__verb' });
    this.first = h('span', { class: 'entry-line__words' });
    this.text = new GrowingText(view.ask);
    this.text.element.classList.add('small');
    this.element = h(
      'details',
      { class: 'entry-line think' },
      h('summary', null, icon('think'), this.verb, this.first, h('span', { class: 'disclosure' }, icon('right', 12))),
    );
    this.element.ontoggle = () => this.#fill();
  }

  /**
   * @param {import('../js/types.d.ts').TextEntry} entry
   * @param {string | null} until when the next thing began
   */
  show(entry, until) {
    this.entry = entry;
    const took = until ? Date.parse(until) - Date.parse(entry.at) : 0;
    const verb = entry.open
      ? 'Thinking'
      : took >= 1000
        ? `Thought for ${duration(Math.round(took / 1000) * 1000)}`
        : 'Thought';
    if (this.verb.textContent !== verb) this.verb.textContent = verb;
    if ((this.first.textContent ?? '').length < 200) {
      const end = entry.text.trimStart().indexOf('\n');
      this.first.textContent = sanitize(
        entry.text
          .trimStart()
          .slice(0, end < 0 ? 300 : end)
          .replace(/[*_`#]/g, ''),
      );
    }
    this.#fill();
  }

  #fill() {
    if (!this.element.open || !this.entry) return;
    this.text.show(this.entry);
    if (!this.text.element.parentNode) this.element.append(this.text.element);
  }

  open() {
    this.element.open = true;
    this.#fill();
  }
}

const STEPS = table(
  /** @type {Record<string, [string, string]>} */ ({
    completed: ['is-done', 'done'],
    in_progress: ['is-running', 'in progress'],
    pending: ['is-pending', 'to do'],
  }),
);

/** @param {import('../js/types.d.ts').PlanEntry} entry */
export function planCard(entry) {
  const done = entry.items.filter((item) => item.status === 'completed').length;
  return h(
    'section',
    { class: 'plan', 'aria-label': 'Plan' },
    h(
      'header',
      null,
      icon('plan'),
      h('b', null, 'Plan'),
      h('span', null, `${done} of ${entry.items.length}`),
      h('progress', {
        max: Math.max(1, entry.items.length),
        value: done,
        'aria-label': `${done} of ${entry.items.length} done`,
      }),
    ),
    h(
      'ol',
      null,
      entry.items.map((item) => {
        const status = item.status ?? 'pending';
        const [letter, spoken] = STEPS[status] ?? STEPS.pending;
        return h(
          'li',
          { class: letter },
          status === 'completed' ? icon('okc', 14) : h('span', { class: 'ring' }),
          h('span', null, sanitize(status === 'in_progress' && item.active_form ? item.active_form : item.text)),
          h('span', { class: 'spoken' }, `, ${spoken}`),
        );
      }),
    ),
  );
}

/** @param {import('../js/types.d.ts').RequestEntry} entry */
export function requestLine(entry) {
  const { asked } = entry;
  if (asked.type === 'question_asked')
    return questionLine(entry, asked, entry.answer?.type === 'question_answered' ? entry.answer : null);
  const answer = entry.answer?.type === 'permission_answered' ? entry.answer : null;
  const what =
    asked.kind === 'execute'
      ? 'run a command'
      : asked.kind === 'edit'
        ? 'edit a file'
        : asked.kind === 'plan'
          ? 'go ahead with its plan'
          : `use ${sanitize(asked.tool)}`;
  if (entry.state === 'open') return lineNote('shield', 'wait', `Asked to ${what}. It is waiting for an answer below.`);
  if (entry.reason === 'restored')
    return lineNote('shield', '', `Asked to ${what}. It was answered; this older copy of the log does not say how.`);
  if (entry.state === 'withdrawn')
    return lineNote(
      'shield',
      '',
      entry.reason === 'lost'
        ? `Asked to ${what}, but stopped before it had an answer.`
        : `Asked to ${what}, then took the request back.`,
    );
  const verb = answer?.decision === 'allow' ? 'allowed' : 'denied';
  const reason = answer?.message ? `“${sanitize(answer.message)}”` : answer?.rule ? sanitize(answer.rule) : '';
  return lineNote(
    verb === 'allowed' ? 'check' : 'x',
    verb === 'denied' ? 'is-denied' : '',
    `${who(answer?.by) || 'Bascule'} ${verb} the request to ${what}.`,
    reason,
  );
}

/**
 * @param {import('../js/types.d.ts').RequestEntry} entry
 * @param {import('../js/types.d.ts').QuestionAsked} asked
 * @param {import('../js/types.d.ts').QuestionAnswered | null} answer
 */
function questionLine(entry, asked, answer) {
  const rows = asked.questions.flatMap((question) => [
    h('dt', null, sanitize(question.question)),
    h('dd', null, sanitize(own(answer?.answers, question.question) ?? (entry.state === 'open' ? '' : 'no answer'))),
  ]);
  const state =
    entry.state === 'open'
      ? 'waiting for an answer'
      : entry.reason === 'restored'
        ? 'answered before this copy of the log was put back'
        : entry.state === 'withdrawn'
          ? entry.reason === 'lost'
            ? 'lost with the agent'
            : 'taken back'
          : `${whom(answer?.by)} answered`;
  return h(
    'details',
    { class: 'tool', open: entry.state === 'answered' },
    h(
      'summary',
      null,
      icon('chat'),
      h('span', { class: 'entry-line__verb' }, 'Question'),
      h('code', null, exact(count(asked.questions.length, 'question'))),
      h('span', { class: 'meta' }, state),
      entry.state === 'open' &&
        h('span', { class: 'status-dot status-dot-blocked', role: 'img', 'aria-label': 'waiting for an answer' }),
      h('span', { class: 'disclosure' }, icon('right', 12)),
    ),
    h('div', { class: 'tool__body' }, h('dl', { class: 'question-answers' }, rows)),
  );
}
