/** One agent's column in a comparison: its facts, its transcript or its diff, and keeping its work. */

import { h, update } from '../../js/dom.js';
import { folderName, money } from '../../js/format.js';
import { icon } from '../../js/icons.js';
import { plusMinus } from '../../js/lines.js';
import { visible } from '../../js/visible.js';
import { agentLetter, dot } from '../parts.js';
import { agentTitle, modelName } from '../sessions.js';
import { mayStart } from '../state.js';
import { changesView, sumOf } from './changes.js';
import { columnFrame } from './column_frame.js';
import { contestantStatus, timeWords, whyNotKept } from './comparison.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('./comparison.js').Comparison} Comparison */
/** @typedef {import('./comparison.js').ComparisonView} ComparisonView */
/** @typedef {import('./comparison.js').Contestant} Contestant */
/** @typedef {ReturnType<typeof createColumn>} Column */

/**
 * @param {App} app
 * @param {ComparisonView} view
 */
export function createColumn(app, view) {
  const head = h('header');
  const well = h('div', { class: 'well compare-column__well' });
  const diff = h('div', { class: 'well compare-column__diff', hidden: true });
  const foot = h('footer');
  const element = h('section', { class: 'compare-column', hidden: true }, head, well, diff, foot);
  const frames = columnFrame(app, well, (id) => void view.look(id));
  return {
    element,
    clear: () => frames.show(null),
    /**
     * @param {State} state
     * @param {Comparison | null} comparison
     * @param {Contestant | undefined} each
     */
    draw(state, comparison, each) {
      element.hidden = !comparison || !each;
      if (!comparison || !each) return frames.show(null);
      const showsDiff = Boolean(view.diffs[each.sessionId]);
      element.setAttribute('aria-label', agentTitle(state, each.agent));
      update(head, columnHead(state, view, comparison, each));
      well.hidden = showsDiff;
      diff.hidden = !showsDiff;
      frames.show(each.problem ? null : each.sessionId);
      update(diff, showsDiff ? [changesView(view.changes[each.sessionId])] : []);
      update(foot, columnFoot(app, state, view, comparison, each));
    },
  };
}

/**
 * @param {State} state
 * @param {ComparisonView} view
 * @param {Comparison} comparison
 * @param {Contestant} each
 */
function columnHead(state, view, comparison, each) {
  const session = state.sessions[each.sessionId];
  const status = contestantStatus(state, each);
  const found = view.changes[each.sessionId];
  const sum = sumOf(found);
  return [
    h(
      'div',
      { class: 'compare-column__head' },
      agentLetter(each.agent, true),
      h(
        'span',
        { class: 'compare-column__name' },
        h('b', null, agentTitle(state, each.agent)),
        h('small', null, visible((session && modelName(state, session)) || each.model || 'default model')),
      ),
      h('span', { class: 'spacer' }),
      comparison.kept === each.sessionId && h('span', { class: 'verdict-mark is-allowed' }, 'Kept'),
      h('span', { class: `pill pill-${status.dot}` }, dot(status.dot, ''), status.word),
    ),
    h(
      'dl',
      { class: 'compare-column__facts' },
      fact('Time', timeWords(session, Date.now())),
      fact('Cost', typeof session?.cost_usd === 'number' ? money(session.cost_usd) : '–'),
      fact('Changed', found ? plusMinus(sum.added, sum.removed) : '–'),
      fact('Files', found ? String(found.files.length) : '–'),
    ),
  ];
}

/**
 * @param {string} name
 * @param {import('../../js/dom.js').Child} value
 */
const fact = (name, value) => h('div', null, h('dt', null, name), h('dd', null, value));

/**
 * @param {App} app
 * @param {State} state
 * @param {ComparisonView} view
 * @param {Comparison} comparison
 * @param {Contestant} each
 */
function columnFoot(app, state, view, comparison, each) {
  if (each.problem) return [h('p', { class: 'error-message' }, icon('alert', 14), visible(each.problem))];
  if (view.asking?.keep === each.sessionId) return [keepQuestion(view, comparison, each, view.asking)];
  const session = state.sessions[each.sessionId];
  const why = whyNotKept(each, session, view.changes[each.sessionId]);
  return [
    diffButton(view, each),
    session && openButton(app, state, each),
    h('span', { class: 'spacer' }),
    mayStart(state) && !comparison.kept && keepButton(view, each, why),
    each.state === 'removed' && h('span', { class: 'hint' }, why),
  ];
}

/**
 * @param {ComparisonView} view
 * @param {Contestant} each
 */
function diffButton(view, { sessionId }) {
  const diff = Boolean(view.diffs[sessionId]);
  return h(
    'button',
    {
      type: 'button',
      class: 'button line',
      'aria-pressed': String(diff),
      onclick: () => view.toggleDiff(sessionId),
    },
    icon(diff ? 'chat' : 'diff', 14),
    diff ? 'Transcript' : 'Diff',
  );
}

/**
 * @param {App} app
 * @param {State} state
 * @param {Contestant} each
 */
function openButton(app, state, each) {
  const blocked = contestantStatus(state, each).dot === 'blocked';
  return h(
    'button',
    {
      type: 'button',
      class: `button ${blocked ? 'line' : 'quiet compare__alone'}`,
      onclick: () => app.go({ name: 'session', id: each.sessionId }),
    },
    blocked ? 'Answer' : 'Continue alone',
  );
}

/**
 * @param {ComparisonView} view
 * @param {Contestant} each
 * @param {string | null} why not
 */
const keepButton = (view, each, why) =>
  h(
    'button',
    {
      type: 'button',
      class: 'button line keep',
      disabled: Boolean(why),
      title: why,
      onclick: () => view.ask({ keep: each.sessionId }),
    },
    icon('check', 14),
    'Keep this one',
  );

/**
 * @param {ComparisonView} view
 * @param {Comparison} comparison
 * @param {Contestant} each
 * @param {import('./comparison.js').Asking} asking
 */
const keepQuestion = (view, comparison, each, { problem, busy }) =>
  h(
    'div',
    { class: 'compare-column__confirm', role: 'alertdialog', 'aria-label': 'Keep this one' },
    h(
      'p',
      null,
      problem
        ? visible(problem)
        : `Apply these changes to ${visible(folderName(comparison.top))}? They are not committed, ` +
            'so that you can review them first.',
    ),
    h(
      'span',
      { class: 'compare-column__buttons' },
      !problem &&
        h(
          'button',
          {
            type: 'button',
            class: 'button is-primary',
            disabled: Boolean(busy),
            onclick: () => void view.keep(comparison, each.sessionId),
          },
          'Keep these changes',
        ),
      h(
        'button',
        { type: 'button', class: 'button quiet', onclick: () => view.ask(null) },
        problem ? 'Close' : 'Cancel',
      ),
    ),
  );
