/** The foot of a turn: what it changed, what it took, and what a person may do with it; or why it broke off. */

import { copyButton } from '../js/copy_button.js';
import { h, iconButton } from '../js/dom.js';
import { icon } from '../js/icons.js';
import { plusMinus } from '../js/lines.js';
import { count, duration, money, tokens, workWords } from '../js/format.js';
import { turnFacts } from './blocks.js';
import { lineNote } from './session_notes.js';
import { whatNext } from './results.js';

/** @typedef {import('./view.js').View} View */

/**
 * @param {import('../js/types.d.ts').TurnEntry} entry
 * @param {View} view
 * @param {boolean} last nothing came after it
 */
export function turnFooter(entry, view, last) {
  const { ended } = entry;
  const facts = turnFacts(view.state.entries, entry, view.state.before === null, view.cwd);
  const { usage } = ended;
  const spent = usage ? (usage.input_tokens ?? 0) + (usage.output_tokens ?? 0) + (usage.cache_write_tokens ?? 0) : 0;
  const meta = [
    ended.duration_ms ? turnTime(ended.duration_ms, facts) : null,
    spent ? tokens(spent) : null,
    facts.cost ? money(facts.cost) : null,
  ]
    .filter(Boolean)
    .join(' · ');
  const acts = [
    facts.said && copyButton('Copy answer', () => view.ask.copy(facts.said)),
    last &&
      view.mayContinue &&
      iconButton('branch', 'Continue from here in a new session', { onclick: () => view.ask.branch() }),
  ].filter(Boolean);
  return h(
    'div',
    { class: 'turn' },
    trouble(ended),
    (facts.files.size > 0 || meta || acts.length > 0) &&
      h(
        'footer',
        { class: 'turn__foot' },
        facts.files.size > 0 && changes(facts, () => view.ask.changes(entry.first_seq)),
        h('span', { class: 'meta' }, meta),
        acts.length > 0 && h('span', { class: 'acts' }, acts),
      ),
  );
}

/**
 * What the agent took. Agents count the time in which they wait for a person; it is theirs only without that.
 * @param {number} took
 * @param {ReturnType<typeof turnFacts>} facts
 */
const turnTime = (took, { waited, whole }) => (whole && waited <= took && workWords(took, waited)) || duration(took);

/**
 * @param {ReturnType<typeof turnFacts>} facts
 * @param {() => void} show
 */
function changes({ files, whole }, show) {
  const sum = [...files.values()].reduce((a, b) => ({ added: a.added + b.added, removed: a.removed + b.removed }));
  // A turn that began above the window may have changed more than can be counted here.
  const counted = whole && [h('b', null, count(files.size, 'file')), plusMinus(sum.added, sum.removed)];
  return h(
    'button',
    { type: 'button', class: 'turn__changes', onclick: show },
    icon('diff', 14),
    counted || '',
    h('span', { class: 'link' }, 'View changes'),
  );
}

/** @param {import('../js/types.d.ts').TurnEnded} ended */
function trouble(ended) {
  const said = ended.message ?? '';
  switch (ended.stop_reason) {
    case 'end_turn':
    case 'interrupted':
      return null;
    case 'error':
      return lineNote('alert', 'bad', `The agent stopped with an error. ${whatNext(said)}`, said);
    case 'max_tokens':
      return lineNote(
        'alert',
        'bad',
        'The answer was cut off at the agent’s length limit. Send “continue” to read the rest.',
        said,
      );
    case 'refusal':
      return lineNote('alert', 'bad', 'The agent declined to continue. Rephrase it, or ask for something else.', said);
    default:
      return lineNote('alert', 'bad', 'The turn ended early. Send a message to continue.', said);
  }
}
