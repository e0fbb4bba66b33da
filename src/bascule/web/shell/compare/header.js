/** Above the columns of a comparison: what was asked, where, and the work trees that can go once one was kept. */

import { h } from '../../js/dom.js';
import { clockTime, count, folderName } from '../../js/format.js';
import { icon } from '../../js/icons.js';
import { visible } from '../../js/visible.js';
import { deviceName } from '../machines.js';
import { agentTitle } from '../sessions.js';
import { mayStart } from '../state.js';

/** @typedef {import('../state.js').State} State */
/** @typedef {import('./comparison.js').Comparison} Comparison */
/** @typedef {import('./comparison.js').ComparisonView} ComparisonView */

/**
 * @param {State} state
 * @param {Comparison | null} comparison
 */
export const titleBar = (state, comparison) => [
  h('h1', null, comparison ? visible(comparison.title) : 'Compare'),
  comparison &&
    h(
      'span',
      { class: 'compare__place' },
      icon('folder', 14),
      h('span', { title: visible(comparison.folder) }, visible(folderName(comparison.top))),
      h('span', { class: 'compare__trees' }, ' · one work tree each'),
      h('span', { class: 'compare__device' }, ' · ', icon('device', 14), deviceOf(state, comparison)),
    ),
];

/**
 * @param {State} state
 * @param {Comparison} comparison
 */
function deviceOf(state, comparison) {
  const session = state.sessions[comparison.contestants[0]?.sessionId];
  return session ? deviceName(state, session) : deviceName(state, {});
}

/**
 * @param {State} state
 * @param {ComparisonView} view
 * @param {Comparison | null} comparison
 */
export const aboveColumns = (state, view, comparison) => [
  view.problem && h('div', { class: 'note bad', role: 'alert' }, icon('alert'), h('span', null, visible(view.problem))),
  comparison && promptLine(comparison),
  comparison && dirtyNote(comparison),
  comparison && treesNote(state, view, comparison),
];

/** @param {Comparison} comparison */
const promptLine = (comparison) =>
  h(
    'p',
    { class: 'compare__prompt' },
    icon('user', 14),
    h('span', null, visible(comparison.prompt)),
    h('small', null, `${visible(comparison.createdBy)} · ${clockTime(comparison.createdAt)}`),
  );

/** @param {Comparison} comparison */
const dirtyNote = (comparison) =>
  comparison.dirty
    ? h(
        'p',
        { class: 'hint' },
        icon('info', 14),
        ` ${count(comparison.dirty, 'uncommitted file')} in ${visible(folderName(comparison.top))} ` +
          `${comparison.dirty === 1 ? 'is' : 'are'} not included. ` +
          'Every agent started from the last commit' +
          `${comparison.baseBranch ? ` of ${visible(comparison.baseBranch)}` : ''}.`,
      )
    : null;

/**
 * After one was kept: the rest can go.
 * @param {State} state
 * @param {ComparisonView} view
 * @param {Comparison} comparison
 */
function treesNote(state, view, comparison) {
  const left = comparison.contestants.filter((each) => each.state === 'there');
  const kept = comparison.contestants.find((each) => each.sessionId === comparison.kept);
  const going = view.asking?.remove;
  if (!mayStart(state) || !left.length || (!kept && !going)) return null;
  if (going) return removeQuestion(view, comparison, going);
  return h(
    'div',
    { class: 'note', role: 'status' },
    icon('okc'),
    h(
      'span',
      null,
      kept
        ? `${agentTitle(state, kept.agent)}’s changes are in ${visible(folderName(comparison.top))}, not committed yet.`
        : '',
    ),
    h('span', { class: 'spacer' }),
    h(
      'button',
      {
        type: 'button',
        class: 'button line',
        onclick: () => view.ask({ remove: left.map((each) => each.sessionId) }),
      },
      'Remove the work trees',
    ),
  );
}

/**
 * @param {ComparisonView} view
 * @param {Comparison} comparison
 * @param {string[]} going
 */
function removeQuestion(view, comparison, going) {
  const { asking } = view;
  return h(
    'div',
    { class: 'note sure', role: 'alertdialog', 'aria-label': 'Remove the work trees' },
    icon('trash'),
    h(
      'span',
      null,
      removeWords(comparison, going),
      ignoredWords(view.changes, going),
      asking?.problem && h('b', { class: 'bad' }, ` ${visible(asking.problem)}`),
    ),
    h('span', { class: 'spacer' }),
    h(
      'button',
      {
        type: 'button',
        class: 'button danger',
        disabled: Boolean(asking?.busy),
        onclick: () => void view.removeTrees(comparison, going),
      },
      'Remove',
    ),
    h('button', { type: 'button', class: 'button quiet', onclick: () => view.ask(null) }, 'Later'),
  );
}

/**
 * @param {Comparison} comparison
 * @param {string[]} going
 */
function removeWords(comparison, going) {
  const alone = going.length === 1;
  const branches = comparison.contestants
    .filter((each) => each.state === 'there' && going.includes(each.sessionId))
    .map((each) => visible(each.branch));
  return (
    `Remove ${count(going.length, 'work tree')} and end ${alone ? 'its session' : 'their sessions'}? ` +
    `What was changed stays on the branch${alone ? '' : 'es'} ${branches.join(', ')}.`
  );
}

/**
 * @param {Record<string, import('../../js/types.d.ts').ContestantChanges>} changes
 * @param {string[]} going
 */
function ignoredWords(changes, going) {
  const ignored = going.reduce((sum, id) => sum + (changes[id]?.ignored ?? 0), 0);
  return ignored
    ? ` ${count(ignored, 'ignored file or folder', 'ignored files or folders')} go with ` +
        `${going.length === 1 ? 'it' : 'them'}.`
    : '';
}
