/** The comparisons so far, as a list. */

import { h } from '../../js/dom.js';
import { age, count, folderName } from '../../js/format.js';
import { icon } from '../../js/icons.js';
import { visible } from '../../js/visible.js';
import { agentLetter } from '../parts.js';
import { agentTitle } from '../sessions.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('./comparison.js').Comparison} Comparison */

/**
 * @param {App} app
 * @param {State} state
 * @param {Comparison[] | null} all
 */
export function overview(app, state, all) {
  if (!all) return null;
  if (!all.length) return nothingYet(app);
  return h(
    'ul',
    { class: 'compare-overview' },
    all.map((comparison) => row(app, state, comparison)),
  );
}

/** @param {App} app */
const nothingYet = (app) =>
  h(
    'div',
    { class: 'center' },
    h(
      'div',
      { class: 'empty-state' },
      icon('columns', 24),
      h('h2', null, 'Nothing to compare yet'),
      h('p', null, 'Start one task with several agents, and their work will be side by side here.'),
      h('button', { type: 'button', class: 'button line', onclick: () => app.go({ name: 'start' }) }, 'New session'),
    ),
  );

/**
 * @param {App} app
 * @param {State} state
 * @param {Comparison} comparison
 */
const row = (app, state, comparison) =>
  h(
    'li',
    { 'data-key': comparison.id },
    h(
      'button',
      { type: 'button', onclick: () => app.go({ name: 'compare', id: comparison.id }) },
      h(
        'span',
        { class: 'compare-overview__agents' },
        comparison.contestants.map((each) => agentLetter(each.agent)),
      ),
      h('span', { class: 'compare-overview__title' }, visible(comparison.title)),
      h(
        'small',
        null,
        [visible(folderName(comparison.top)), outcome(state, comparison), age(comparison.createdAt, Date.now())].join(
          ' · ',
        ),
      ),
    ),
  );

/**
 * @param {State} state
 * @param {Comparison} comparison
 */
function outcome(state, comparison) {
  const kept = comparison.contestants.find((each) => each.sessionId === comparison.kept);
  return comparison.kept
    ? `kept ${agentTitle(state, kept?.agent ?? '')}`
    : count(comparison.contestants.length, 'agent');
}
