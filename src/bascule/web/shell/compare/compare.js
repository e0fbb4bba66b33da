/** One prompt, several agents: their transcripts side by side, what each changed, and keeping one. */

import { h, update } from '../../js/dom.js';
import { createColumn } from './column.js';
import { ComparisonView, MAX_AGENTS } from './comparison.js';
import { createComposer } from './composer.js';
import { aboveColumns, titleBar } from './header.js';
import { overview } from './overview.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */

/**
 * @param {HTMLElement} root
 * @param {App} app
 */
export function mountCompare(root, app) {
  const view = new ComparisonView(app, () => draw(app.store.get()));
  const head = h('header', { class: 'title-bar' });
  const above = h('div', { class: 'compare__above' });
  const list = h('div', { class: 'compare-list' });
  const columns = Array.from({ length: MAX_AGENTS }, () => createColumn(app, view));
  const beside = h(
    'div',
    { class: 'compare-columns', tabindex: -1 },
    columns.map((column) => column.element),
  );
  const composer = createComposer(app, view);
  root.append(head, above, list, beside, composer.element);
  let loaded = ''; // which one, on which line

  /** @param {State} state */
  function draw(state) {
    root.hidden = state.route.name !== 'compare';
    if (root.hidden) {
      loaded = '';
      for (const column of columns) column.clear();
      return;
    }
    loadOnce(state);
    const comparison = view.shown && view.shown.id === state.route.id ? view.shown : null;
    update(head, titleBar(state, comparison));
    update(above, aboveColumns(state, view, comparison));
    update(list, comparison || state.route.id ? [] : [overview(app, state, view.all)]);
    list.hidden = Boolean(state.route.id);
    beside.hidden = !comparison;
    beside.dataset.n = String(comparison?.contestants.length ?? 0);
    columns.forEach((column, n) => column.draw(state, comparison, comparison?.contestants[n]));
    composer.draw(state, comparison);
  }

  /** @param {State} state */
  function loadOnce(state) {
    const wanted = `${state.route.id ?? ''} ${state.line.phase}`;
    if (loaded === wanted || state.line.phase !== 'live') return;
    loaded = wanted;
    void view.load(state.route.id);
  }

  app.events.on('compare:changed', () => {
    if (app.store.get().route.name === 'compare') void view.load(app.store.get().route.id);
  });
  // A turn is over: what it changed is there to be looked at. Its phase may be back before anybody drew it.
  app.events.on('session:events', ({ sessionId, entries }) => {
    if (entries.some((/** @type {import('../../js/types.d.ts').Logged} */ entry) => entry.event.type === 'turn_ended'))
      void view.look(sessionId);
  });
  app.store.subscribe((now, before) => {
    if (now.route.name === 'compare' || before.route.name === 'compare') draw(now);
  });
  draw(app.store.get());
}
