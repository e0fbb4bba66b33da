/** Search and commands in one place: sessions by name, what was said in them, what can be done. */

import { h, update } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { isolated, keyCap } from '../parts.js';
import { nextTheme } from '../sidebar/sidebar.js';
import { mayStart } from '../state.js';
import { NOTHING, seeker } from './hits.js';
import { keySheet } from './key_sheet.js';
import { paletteSections } from './palette_rows.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('./palette_rows.js').Row} Row */
/** @typedef {import('./palette_rows.js').Section} Section */

const MAX_HITS = 20;

/**
 * @param {HTMLElement} root
 * @param {App} app
 */
export function mountPalette(root, app) {
  const palette = new Palette(root, app);
  return { search: () => palette.show('search'), keys: () => palette.show('keys') };
}

/**
 * Commands of the page as a whole; its parts offer more.
 * @param {App} app
 * @param {() => void} showKeys
 * @returns {import('../app.js').Command[]}
 */
const ownCommands = (app, showKeys) => [
  {
    icon: 'plus',
    label: 'New session',
    keys: 'N',
    when: () => mayStart(app.store.get()),
    run: () => {
      app.go({ name: 'start' });
      document.getElementById('task')?.focus();
    },
  },
  { icon: 'inbox', label: 'Inbox', keys: 'G I', run: () => app.go({ name: 'inbox' }) },
  { icon: 'search', label: 'Search in all sessions', run: () => app.go({ name: 'search' }) },
  {
    icon: 'diff',
    label: 'Show changes',
    keys: 'Ctrl J',
    when: () => app.store.get().route.name === 'session',
    run: () => app.store.set({ panel: true }),
  },
  { icon: 'gear', label: 'Settings', run: () => app.go({ name: 'settings', part: 'general' }) },
  { icon: 'key', label: 'Trusted browsers', run: () => app.go({ name: 'settings', part: 'browsers' }) },
  { icon: 'log', label: 'Audit log', run: () => app.go({ name: 'settings', part: 'audit' }) },
  { icon: 'sun', label: 'Change the theme', run: () => app.store.set(({ theme }) => ({ theme: nextTheme(theme) })) },
  { icon: 'list', label: 'All keys', keys: '?', run: showKeys },
  { icon: 'lock', label: 'Log out of this browser', run: () => void app.leave() },
];

class Palette {
  /**
   * @param {HTMLElement} root
   * @param {App} app
   */
  constructor(root, app) {
    this.root = root;
    this.app = app;
    this.open = ''; // 'search', 'keys' or neither
    this.text = '';
    this.at = 0; // which row is chosen
    this.found = NOTHING;
    /** What had the focus before. @type {Element | null} */
    this.before = null;
    this.own = ownCommands(app, () => this.show('keys'));
    this.seek = seeker(app, MAX_HITS, (answer) => {
      this.found = answer;
      if (this.open === 'search') this.#draw();
    });
  }

  /** @param {string} what */
  show(what) {
    this.app.events.emit('needPrompts', null);
    if (!this.open) this.before = document.activeElement;
    Object.assign(this, { open: what, text: '', at: 0, found: NOTHING });
    this.#draw();
    /** @type {HTMLElement | null} */ (this.root.querySelector(what === 'keys' ? '.palette' : 'input'))?.focus();
  }

  #close() {
    this.open = '';
    update(this.root, []);
    if (this.before instanceof HTMLElement && this.before.isConnected) this.before.focus();
  }

  /** @param {() => void} run */
  #closeAnd(run) {
    this.#close();
    run();
  }

  #seeAll() {
    const q = this.text.trim();
    this.#closeAnd(() => this.app.go({ name: 'search', q }));
  }

  #draw() {
    const close = () => this.#close();
    if (this.open === 'keys') return update(this.root, [scrim('All keys', keySheet(close), close)]);
    const sections = paletteSections(this.app, this.text, this.found, [...this.own, ...this.app.commands]);
    const rows = sections.flatMap((section) => section.rows);
    this.at = Math.min(this.at, Math.max(0, rows.length - 1));
    const content = [
      this.#field(rows),
      resultList(sections, rows[this.at], (run) => this.#closeAnd(run)),
      this.#foot(),
    ];
    update(this.root, [scrim('Search', content, close)]);
  }

  /** @param {Row[]} rows */
  #field(rows) {
    return h(
      'div',
      { class: 'palette__input' },
      icon('search'),
      h('input', {
        'aria-label': 'Search or run a command',
        placeholder: 'Search or run a command',
        role: 'combobox',
        'aria-expanded': 'true',
        'aria-controls': 'pal-list',
        'aria-activedescendant': rows.length ? `pal-${this.at}` : null,
        'data-key': 'q',
        maxlength: 1000,
        autocomplete: 'off',
        spellcheck: 'false',
        oninput: (/** @type {On<HTMLInputElement>} */ event) => this.#typed(event.currentTarget.value),
        onkeydown: (/** @type {KeyboardEvent} */ event) => this.#key(event, rows),
      }),
      keyCap('Esc'),
      h(
        'button',
        {
          type: 'button',
          class: 'icon-button palette__close',
          'aria-label': 'Close',
          tabindex: -1,
          onclick: () => this.#close(),
        },
        icon('x'),
      ),
    );
  }

  /** @param {string} text */
  #typed(text) {
    this.text = text;
    this.at = 0;
    this.seek.look(text);
    this.#draw();
  }

  /**
   * @param {KeyboardEvent} event
   * @param {Row[]} rows
   */
  #key(event, rows) {
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (move && rows.length) {
      this.at = (this.at + move + rows.length) % rows.length;
      event.preventDefault();
      this.#draw();
      this.root.querySelector('.palette-row.is-selected')?.scrollIntoView({ block: 'nearest' });
    } else if (event.key === 'Tab' && this.text.trim()) {
      event.preventDefault();
      this.#seeAll();
    } else if (event.key === 'Enter' && rows[this.at]) {
      event.preventDefault();
      this.#closeAnd(rows[this.at].run);
    }
  }

  #foot() {
    return h(
      'footer',
      null,
      h('span', null, h('kbd', null, '↑'), h('kbd', null, '↓'), 'move'),
      h('span', null, h('kbd', null, '⏎'), 'open'),
      h('span', { class: 'spacer' }),
      this.text.trim() &&
        h(
          'button',
          { type: 'button', class: 'palette__all', tabindex: -1, onclick: () => this.#seeAll() },
          h('kbd', null, 'Tab'),
          'all results',
        ),
    );
  }
}

/**
 * @param {Section[]} sections
 * @param {Row | undefined} chosen
 * @param {(run: () => void) => void} open
 */
function resultList(sections, chosen, open) {
  const rows = sections.flatMap((section) => section.rows);
  return h(
    'div',
    { class: 'palette__results', id: 'pal-list', role: 'listbox', 'aria-label': 'Results' },
    sections.length
      ? sections.map((section) =>
          h(
            'div',
            { role: 'group', 'aria-label': section.title, 'data-key': section.title },
            h('p', { class: 'caption', 'aria-hidden': 'true' }, section.title),
            section.rows.map((row) => rowView(row, rows.indexOf(row), row === chosen, () => open(row.run))),
          ),
        )
      : h('p', { class: 'nothing' }, 'Nothing found.'),
  );
}

/**
 * @param {Row} row
 * @param {number} n
 * @param {boolean} chosen
 * @param {() => void} onclick
 */
const rowView = (row, n, chosen, onclick) =>
  h(
    'div',
    {
      class: `palette-row ${row.tall ? 'is-tall' : ''} ${chosen ? 'is-selected' : ''}`,
      id: `pal-${n}`,
      'data-key': row.key,
      role: 'option',
      'aria-selected': String(chosen),
      onclick,
    },
    row.mark,
    h('span', { class: 'palette-row__title', dir: 'auto' }, row.label),
    h('small', null, isolated(row.note)),
  );

/**
 * @param {string} label
 * @param {import('../../js/dom.js').Child | import('../../js/dom.js').Child[]} content
 * @param {() => void} close
 */
const scrim = (label, content, close) =>
  h(
    'div',
    {
      class: 'scrim',
      'data-key': label,
      onpointerdown: (/** @type {Event} */ event) => {
        if (event.target === event.currentTarget) close();
      },
    },
    h(
      'div',
      {
        class: `palette ${label === 'Search' ? '' : 'sheet'}`,
        role: 'dialog',
        'aria-modal': 'true',
        'aria-label': label,
        tabindex: -1,
        onkeydown: (/** @type {KeyboardEvent} */ event) => {
          if (event.key === 'Escape') {
            event.stopPropagation();
            close();
          }
          if (event.key === 'Tab') event.preventDefault();
        },
      },
      content,
    ),
  );
