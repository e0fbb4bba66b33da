/** Everything in a transcript that is neither running text nor a tool call. */

import { h, iconButton } from '../js/dom.js';
import { icon } from '../js/icons.js';
import { plusMinus } from '../js/lines.js';
import { tame } from '../js/visible.js';
import { clockTime, count, duration, money, tokens } from '../js/words.js';
import { turnFacts } from './blocks.js';
import { markdown } from './markdown.js';

/** @typedef {import('./view.js').View} View */

/** @param {import('../js/types.d.ts').PromptEntry} entry */
export function promptBox(entry) {
  return h('section', { class: 'mu', 'data-prompt': entry.prompt_id },
    entry.images.map((one) => h('img', { class: 'shot', alt: 'Picture you sent', src: `data:${one.media_type};base64,${one.data}` })),
    h('div', { class: 'said' }, tame(entry.text)),
    h('footer', null, `${entry.by} · ${clockTime(entry.at)}`));
}

/** @param {import('../js/types.d.ts').TextEntry} entry @param {View} view @param {string | null} until */
export function thinkingLine(entry, view, until) {
  const took = until ? Date.parse(until) - Date.parse(entry.at) : 0;
  const first = tame(entry.text.trim().split('\n')[0].replace(/[*_`#]/g, ''));
  const details = h('details', { class: 'ln1 think' }, h('summary', null,
    icon('think'), h('span', { class: 'v' }, entry.open ? 'Thinking' : took >= 1000 ? `Thought for ${duration(Math.round(took / 1000) * 1000)}` : 'Thought'),
    h('span', { class: 'w' }, first), h('span', { class: 'car' }, icon('right', 12))));
  const fill = () => {
    if (details.open && details.childElementCount === 1) details.append(h('div', { class: 'ma small' }, markdown(entry.text, view.ask)));
  };
  details.ontoggle = fill;
  return details;
}

/** @param {import('../js/types.d.ts').PlanEntry} entry */
export function planCard(entry) {
  const done = entry.items.filter((one) => one.status === 'completed').length;
  return h('section', { class: 'plan', 'aria-label': 'Plan' },
    h('header', null, icon('plan'), h('b', null, 'Plan'), h('span', null, `${done} of ${entry.items.length}`),
      h('progress', { max: Math.max(1, entry.items.length), value: done, 'aria-label': `${done} of ${entry.items.length} done` })),
    h('ol', null, entry.items.map((item) => {
      const status = item.status ?? 'pending';
      const letter = { completed: 'd', in_progress: 'r', pending: 'p' }[status];
      return h('li', { class: letter },
        status === 'completed' ? icon('okc', 14) : h('span', { class: 'ring' }),
        h('span', null, tame(status === 'in_progress' && item.active_form ? item.active_form : item.text)));
    })));
}

/** @param {import('../js/types.d.ts').TurnEntry} entry @param {View} view */
export function turnFooter(entry, view) {
  const { ended } = entry;
  const facts = turnFacts(view.state.entries, entry);
  const spent = ended.usage ? (ended.usage.input_tokens ?? 0) + (ended.usage.output_tokens ?? 0) + (ended.usage.cache_write_tokens ?? 0) : 0;
  const meta = [
    ended.duration_ms ? duration(ended.duration_ms) : null,
    spent ? tokens(spent) : null,
    facts.cost ? money(facts.cost) : null,
  ].filter(Boolean).join(' · ');
  let added = 0;
  let removed = 0;
  for (const one of facts.files.values()) [added, removed] = [added + one.added, removed + one.removed];
  const trouble = ended.stop_reason === 'end_turn' || ended.stop_reason === 'interrupted' ? null : stopWords(ended);
  return h('div', { class: 'turn' },
    trouble && lineNote('alert', 'bad', trouble, ended.message ?? ''),
    (facts.files.size > 0 || meta || facts.said) && h('footer', { class: 'tf' },
      facts.files.size > 0 && h('button', { type: 'button', class: 'cf', onclick: () => view.ask.changes() },
        icon('diff', 14), h('b', null, count(facts.files.size, 'file')), plusMinus(added, removed), h('span', { class: 'lnk' }, 'View changes')),
      h('span', { class: 'meta' }, meta),
      facts.said && h('span', { class: 'acts' }, iconButton('copy', 'Copy answer', { onclick: () => view.ask.copy(facts.said) }))));
}

/** @param {import('../js/types.d.ts').TurnEnded} ended */
function stopWords(ended) {
  switch (ended.stop_reason) {
    case 'error': return 'The agent stopped with an error. Send a message to let it try again.';
    case 'max_tokens': return 'The answer was cut off at the agent’s length limit. Send “go on” to read the rest.';
    case 'refusal': return 'The agent declined to go on.';
    default: return 'The turn ended early.';
  }
}

/** @param {string} mark @param {string} tone @param {string} text @param {string} [more] */
function lineNote(mark, tone, text, more = '') {
  return h('div', { class: `evn ${tone}` }, icon(mark), h('span', null, text, more && h('small', null, tame(more).slice(0, 2000))));
}

/** @param {import('../js/types.d.ts').RequestEntry} entry @param {View} view */
export function requestLine(entry, view) {
  const asked = /** @type {any} */ (entry.asked);
  const answer = /** @type {any} */ (entry.answer);
  if (asked.type === 'question_asked') return questionLine(entry, asked, answer);
  const what = asked.kind === 'execute' ? 'run a command' : asked.kind === 'edit' ? 'edit a file' : asked.kind === 'plan' ? 'go ahead with its plan' : `use ${tame(asked.tool)}`;
  if (entry.state === 'open') return lineNote('shield', 'wait', `Asked to ${what}. It waits for you below.`);
  if (entry.state === 'withdrawn') return lineNote('shield', '', `Asked to ${what}, then took the request back.`);
  const verb = answer?.decision === 'allow' ? 'allowed' : 'denied';
  const reason = answer?.message ? `“${tame(answer.message)}”` : answer?.rule ? tame(answer.rule) : '';
  return lineNote(verb === 'allowed' ? 'check' : 'x', verb === 'denied' ? 'no' : '', `${answer?.by || 'Bascule'} ${verb} the request to ${what}.`, reason);
}

/** @param {import('../js/types.d.ts').RequestEntry} entry @param {any} asked @param {any} answer */
function questionLine(entry, asked, answer) {
  const rows = asked.questions.flatMap((/** @type {any} */ one) => [
    h('dt', null, tame(one.question)), h('dd', null, tame(answer?.answers?.[one.question] ?? (entry.state === 'open' ? '' : 'no answer')))]);
  const state = entry.state === 'open' ? 'waiting for you' : entry.state === 'withdrawn' ? 'taken back' : `${answer?.by ?? ''} answered`;
  return h('details', { class: 'tool', open: entry.state === 'answered' },
    h('summary', null, icon('chat'), h('span', { class: 'v' }, 'Question'), h('code', null, count(asked.questions.length, 'question')),
      h('span', { class: 'meta' }, state), entry.state === 'open' && h('span', { class: 'dot dot-blocked' }), h('span', { class: 'car' }, icon('right', 12))),
    h('div', { class: 'tb' }, h('dl', { class: 'qa' }, rows)));
}

const ENDS = /** @type {Record<string, string>} */ ({
  closed: 'Session ended. Everything is kept. Resume goes on from here.',
  exited: 'The agent left by itself. Everything is kept. Resume goes on from here.',
  killed: 'Everything was stopped. Resume goes on from here.',
  idle_limit: 'Ended after a while without a message. Everything is kept. Resume goes on from here.',
  time_limit: 'Ended at its time limit. Everything is kept. Resume goes on from here.',
  size_limit: 'Ended because it wrote more than the limit. Everything is kept.',
  lost: 'The machine went away under the agent. Everything it said is kept. Resume goes on from here.',
});

/** @param {import('../js/types.d.ts').EventEntry} entry @param {View} view @returns {Node | null} */
export function eventLine(entry, view) {
  const event = /** @type {any} */ (entry.event);
  switch (event.type) {
    case 'note': return lineNote(event.level === 'error' ? 'alert' : event.level === 'warning' ? 'alert' : 'info', event.level === 'error' ? 'bad' : event.level === 'warning' ? 'wait' : '', tame(event.text));
    case 'interrupted': return lineNote('stop', '', `${event.by} stopped this turn. What it wrote so far is kept.`);
    case 'session_started': return view.state.entries[0] === entry && !event.resumed_from ? null : h('div', { class: 'gap' }, event.resumed_from ? 'Goes on from an earlier conversation' : `Resumed by ${event.by} · ${clockTime(entry.at)}`);
    case 'session_ended': return h('div', { class: 'gap' }, ENDS[event.reason] ?? 'Session ended.');
    case 'session_failed': return h('div', null, lineNote('alert', 'bad', tame(event.message)), event.stderr_tail && said('What it said', event.stderr_tail));
    case 'stderr_written': return said('The agent’s error output', event.text);
    default: return said('Something Bascule does not know yet', event.raw ?? '');
  }
}

/** @param {string} title @param {string} text */
const said = (title, text) => h('details', { class: 'ln1 errout' },
  h('summary', null, icon('log'), h('span', { class: 'v' }, title), h('span', { class: 'w' }, tame(text.trim().split('\n').pop() ?? '')), h('span', { class: 'car' }, icon('right', 12))),
  h('pre', { class: 'out', tabindex: 0 }, tame(text)));
