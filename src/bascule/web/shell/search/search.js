/** The search screen: all results, by session, narrowed by project, agent and time; each opens at its message. */

import { h, update } from '../../js/dom.js';
import { count } from '../../js/format.js';
import { icon } from '../../js/icons.js';
import { missingLine, missingNote } from '../connection/missing_note.js';
import { visible } from '../../js/visible.js';
import { NO_FILTERS, filterChips, filteredHits } from './filters.js';
import { hitCard } from './hit_card.js';
import { NOTHING, bySession, seeker } from './hits.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('./hits.js').Found} Found */

const MAX_HITS = 100;

/**
 * @param {HTMLElement} root
 * @param {App} app
 */
export function mountSearch(root, app) {
  const screen = new SearchScreen(app, () => draw(app.store.get()));

  /** @param {State} state */
  function draw(state) {
    root.hidden = state.route.name !== 'search';
    if (root.hidden) return root.replaceChildren();
    if (!root.childElementCount) root.append(...screen.parts);
    screen.draw(state);
  }

  app.store.subscribe((now, before) => {
    const here = now.route.name === 'search';
    const arrives = here && (before.route.name !== 'search' || (now.loaded && !before.loaded));
    const parts = /** @type {const} */ (['sessions', 'archived', 'devices']);
    const listed = here && parts.some((part) => now[part] !== before[part]);
    if (arrives) screen.look(now.route.q ?? '');
    if (arrives || now.route !== before.route || listed) draw(now);
    if (arrives && matchMedia('(pointer: fine)').matches) screen.input.focus();
  });
  draw(app.store.get());
}

class SearchScreen {
  /**
   * @param {App} app
   * @param {() => void} again
   */
  constructor(app, again) {
    this.app = app;
    this.again = again;
    this.found = NOTHING;
    this.only = { ...NO_FILTERS };
    /** Sessions whose further hits are shown. @type {Set<string>} */
    this.opened = new Set();
    this.seek = seeker(app, MAX_HITS, (answer) => {
      this.found = answer;
      this.opened.clear();
      again();
    });
    this.input = this.#input();
    this.tally = h('small', { role: 'status' });
    this.filters = h('div', { class: 'chip-row' });
    this.results = h('div', { class: 'search-hits' });
    const field = h('label', { class: 'input search-field' }, icon('search'), this.input, this.tally);
    this.parts = [
      h('header', { class: 'title-bar' }, h('h1', null, 'Search')),
      h('div', { class: 'search-results' }, field, this.filters, this.results),
    ];
  }

  /** @returns {HTMLInputElement} */
  #input() {
    return h('input', {
      type: 'search',
      'aria-label': 'Search in all sessions',
      placeholder: 'Search in all sessions',
      autocomplete: 'off',
      spellcheck: 'false',
      maxlength: 1000,
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        // First it empties the field, as the browser does; then it leads back.
        if (event.key === 'Escape' && !this.input.value) history.back();
      },
      oninput: () => {
        this.app.go({ name: 'search', q: this.input.value }, { replace: true });
        this.seek.look(this.input.value);
      },
    });
  }

  /** @param {string} q */
  look(q) {
    this.input.value = q;
    this.seek.look(q);
  }

  /** @param {State} state */
  draw(state) {
    const { found, only } = this;
    const hits = filteredHits(state, found.hits, only, Date.now());
    const groups = bySession(hits);
    const set = (/** @type {Partial<typeof only>} */ some) => {
      Object.assign(only, some);
      this.again();
    };
    this.tally.textContent = tallyWords(found, hits.length, groups.length);
    update(this.filters, found.hits.length ? filterChips(state, found.hits, only, set) : []);
    const cards = groups.map((group) => this.#card(state, group));
    const missing = found.q ? searchedWithout(found.missing) : missingNote(state);
    update(this.results, [missing, ...notes(found, groups.length), ...cards]);
  }

  /**
   * @param {State} state
   * @param {import('./hit_card.js').Group} group
   */
  #card(state, group) {
    return hitCard(state, group, this.opened.has(group.sessionId), {
      goTo: this.app.goTo,
      open: () => {
        this.opened.add(group.sessionId);
        this.again();
      },
    });
  }
}

/**
 * @param {Found} found
 * @param {number} hits
 * @param {number} sessions
 */
function tallyWords(found, hits, sessions) {
  if (!found.q || found.problem) return '';
  const newest = found.hits.length === MAX_HITS ? 'the newest ' : '';
  return `${newest}${hits} in ${count(sessions, 'session')} · ${Math.max(1, Math.round(found.took))} ms`;
}

/**
 * What stands above the results, or in their place.
 * @param {Found} found
 * @param {number} sessions
 */
const notes = (found, sessions) => [
  found.problem && h('p', { class: 'error-message', role: 'alert' }, icon('alert', 14), found.problem),
  found.owed > 0 &&
    h('p', { class: 'hint' }, `${count(found.owed, 'message')} can’t be found yet: the index is still being built.`),
  found.q && !sessions && !found.problem && nothingFound(found),
  !found.q && h('p', { class: 'hint lead' }, 'Titles and every message of every session, archived ones too.'),
];

/**
 * "laptop did not answer: what happened there since, and what was begun in its terminals, was not searched."
 * @param {readonly import('./hits.js').Missing[]} missing
 */
const searchedWithout = (missing) =>
  missing.length > 0 &&
  missingLine(
    `${missing.map((device) => visible(device.name)).join(', ')} did not answer, ` +
      'so sessions stored only there were not searched. Copies here were.',
  );

/** @param {Found} found */
const nothingFound = (found) =>
  h(
    'div',
    { class: 'empty-state' },
    icon('search', 20),
    h('h2', null, `No results for “${found.q}”`),
    h(
      'p',
      null,
      found.hits.length
        ? 'Nothing matches these filters.'
        : 'All words must be in one message. The last one may be incomplete.',
    ),
  );
