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
 * @param {Comparison | null} one
 */
export const titleBar = (state, one) => [
  h('h1', null, one ? visible(one.title) : 'Compare'),
  one &&
    h(
      'span',
      { class: 'compare__place' },
      icon('folder', 14),
      h('span', { title: visible(one.folder) }, visible(folderName(one.top))),
      h('span', { class: 'compare__trees' }, ' · one work tree each'),
      h('span', { class: 'compare__device' }, ' · ', icon('device', 14), deviceOf(state, one)),
    ),
];

/**
 * @param {State} state
 * @param {Comparison} one
 */
function deviceOf(state, one) {
  const session = state.sessions[one.contestants[0]?.sessionId];
  return session ? deviceName(state, session) : deviceName(state, {});
}

/**
 * @param {State} state
 * @param {ComparisonView} view
 * @param {Comparison | null} one
 */
export const aboveColumns = (state, view, one) => [
  view.problem && h('div', { class: 'note bad', role: 'alert' }, icon('alert'), h('span', null, visible(view.problem))),
  one && promptLine(one),
  one && dirtyNote(one),
  one && treesNote(state, view, one),
];

/** @param {Comparison} one */
const promptLine = (one) =>
  h(
    'p',
    { class: 'compare__prompt' },
    icon('user', 14),
    h('span', null, visible(one.prompt)),
    h('small', null, `${visible(one.createdBy)} · ${clockTime(one.createdAt)}`),
  );

/** @param {Comparison} one */
const dirtyNote = (one) =>
  one.dirty
    ? h(
        'p',
        { class: 'hint' },
        icon('info', 14),
        ` ${count(one.dirty, 'uncommitted file')} in ${visible(folderName(one.top))} ` +
          `${one.dirty === 1 ? 'is' : 'are'} not included. ` +
          `Every agent started from the last commit${one.baseBranch ? ` of ${visible(one.baseBranch)}` : ''}.`,
      )
    : null;

/**
 * After one was kept: the rest can go.
 * @param {State} state
 * @param {ComparisonView} view
 * @param {Comparison} one
 */
function treesNote(state, view, one) {
  const left = one.contestants.filter((each) => each.state === 'there');
  const kept = one.contestants.find((each) => each.sessionId === one.kept);
  const going = view.asking?.remove;
  if (!mayStart(state) || !left.length || (!kept && !going)) return null;
  if (going) return removeQuestion(view, one, going);
  return h(
    'div',
    { class: 'note', role: 'status' },
    icon('okc'),
    h(
      'span',
      null,
      kept
        ? `${agentTitle(state, kept.agent)}’s changes are in ${visible(folderName(one.top))}, not committed yet.`
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
 * @param {Comparison} one
 * @param {string[]} going
 */
function removeQuestion(view, one, going) {
  const { asking } = view;
  return h(
    'div',
    { class: 'note sure', role: 'alertdialog', 'aria-label': 'Remove the work trees' },
    icon('trash'),
    h(
      'span',
      null,
      removeWords(one, going),
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
        onclick: () => void view.removeTrees(one, going),
      },
      'Remove',
    ),
    h('button', { type: 'button', class: 'button quiet', onclick: () => view.ask(null) }, 'Later'),
  );
}

/**
 * @param {Comparison} one
 * @param {string[]} going
 */
function removeWords(one, going) {
  const alone = going.length === 1;
  const branches = one.contestants
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
