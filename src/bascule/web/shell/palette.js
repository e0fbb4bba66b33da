/** Search and commands in one place, and the sheet of all keys. */

import { h, update } from '../js/dom.js';
import { icon } from '../js/icons.js';
import { folderName } from '../js/words.js';
import { dot, keyCap, keyName } from './parts.js';
import { sessionsInOrder, statusOf, titleOf } from './state.js';

/** @typedef {import('./app.js').App} App */

const KEYS = [
  ['Ctrl K', 'search, commands'], ['N', 'new session'], ['G I', 'inbox'], ['Alt 1–9', 'tab'], ['Ctrl B', 'sidebar'], ['Ctrl J', 'changes'],
  ['Alt W', 'close tab'], ['Enter', 'send'], ['⇧ Enter', 'new line'], ['Esc Esc', 'interrupt'], ['Ctrl .', 'focus the request'], ['A', 'allow once'],
  ['S', 'allow in session'], ['D', 'deny'], ['⇧ D', 'deny with a reason'], ['1–9', 'pick an option'], ['J K O', 'move, open (inbox)'], ['?', 'all keys'],
];

/** @param {HTMLElement} root @param {App} app */
export function mountPalette(root, app) {
  let text = '';
  let at = 0;
  let open = '';
  /** @type {Element | null} */
  let before = null;

  const close = () => {
    open = '';
    update(root, []);
    if (before instanceof HTMLElement) before.focus();
  };

  /** @type {() => {title: string, rows: {mark: any, label: string, note: string, run: () => void}[]}[]} */
  function sections() {
    const state = app.store.get();
    const wanted = text.trim().toLowerCase();
    const fits = (/** @type {string} */ label) => label.toLowerCase().includes(wanted);
    const sessions = sessionsInOrder(state).filter((one) => fits(titleOf(one)) || fits(folderName(one.cwd))).slice(0, 8).map((one) => {
      const status = statusOf(state, one);
      return { mark: dot(status.dot, status.word), label: titleOf(one), note: `${folderName(one.cwd)} · ${status.word.toLowerCase()}`, run: () => app.go({ name: 'session', id: one.session_id }) };
    });
    const commands = [
      ['plus', 'New session', 'N', () => app.go({ name: 'start' })],
      ['inbox', 'Inbox', 'G I', () => app.go({ name: 'inbox' })],
      ['gear', 'Settings', '', () => app.go({ name: 'settings', part: 'general' })],
      ['key', 'Trusted browsers', '', () => app.go({ name: 'settings', part: 'browsers' })],
      ['log', 'Audit log', '', () => app.go({ name: 'settings', part: 'audit' })],
      ['sun', 'Change the theme', '', () => app.store.set(({ theme }) => ({ theme: theme === 'dark' ? 'light' : 'dark' }))],
      ['diff', 'Show changes', 'Ctrl J', () => app.store.set({ panel: true })],
      ['list', 'All keys', '?', () => show('keys')],
    ].filter(([, label]) => fits(/** @type {string} */ (label))).map(([mark, label, note, run]) => ({ mark: icon(/** @type {string} */ (mark)), label: /** @type {string} */ (label), note: keyName(/** @type {string} */ (note)), run: /** @type {() => void} */ (run) }));
    return [{ title: 'Sessions', rows: sessions }, { title: 'Commands', rows: commands }].filter((one) => one.rows.length);
  }

  /** @param {string} label */
  function marked(label) {
    const wanted = text.trim().toLowerCase();
    const place = wanted ? label.toLowerCase().indexOf(wanted) : -1;
    if (place < 0) return [label];
    return [label.slice(0, place), h('mark', null, label.slice(place, place + wanted.length)), label.slice(place + wanted.length)];
  }

  function draw() {
    if (open === 'keys') {
      update(root, [scrim('All keys', h('div', { class: 'keysheet' }, KEYS.map(([key, does]) => h('div', null, h('span', null, does), keyCap(key)))))]);
      return;
    }
    const parts = sections();
    const rows = parts.flatMap((part) => part.rows);
    at = Math.min(at, Math.max(0, rows.length - 1));
    let n = -1;
    update(root, [scrim('Search', [
      h('div', { class: 'pin' }, icon('search'), h('input', {
        'aria-label': 'Search or run a command', placeholder: 'Search or run a command', role: 'combobox', 'aria-expanded': 'true', 'aria-controls': 'pal-list', 'aria-activedescendant': rows.length ? `pal-${at}` : null, 'data-key': 'q',
        oninput: (/** @type {any} */ event) => { text = event.currentTarget.value; at = 0; draw(); },
        onkeydown: (/** @type {KeyboardEvent} */ event) => key(event, rows),
      }), keyCap('Esc')),
      h('div', { class: 'pres', id: 'pal-list', role: 'listbox', 'aria-label': 'Results' }, parts.length ? parts.map((part) => h('div', { role: 'group', 'aria-label': part.title }, h('p', { class: 'cap' }, part.title), part.rows.map((row) => {
        const here = ++n;
        return h('div', { class: `pr_ ${here === at ? 'sel' : ''}`, id: `pal-${here}`, role: 'option', 'aria-selected': String(here === at), onclick: () => { close(); row.run(); } }, row.mark, h('span', { class: 'pt' }, marked(row.label)), h('small', null, row.note));
      }))) : h('p', { class: 'nothing' }, 'Nothing by that name.')),
      h('footer', null, h('span', null, h('kbd', null, '↑'), h('kbd', null, '↓'), 'move'), h('span', null, h('kbd', null, '⏎'), 'open')),
    ])]);
  }

  /** @param {string} label @param {any} content */
  const scrim = (label, content) => h('div', { class: 'scrim', onpointerdown: (/** @type {Event} */ event) => { if (event.target === event.currentTarget) close(); } },
    h('div', { class: 'pal', role: 'dialog', 'aria-modal': 'true', 'aria-label': label, tabindex: -1, onkeydown: (/** @type {KeyboardEvent} */ event) => { if (event.key === 'Escape') { event.stopPropagation(); close(); } if (event.key === 'Tab') event.preventDefault(); } }, content));

  /** @param {KeyboardEvent} event @param {{run: () => void}[]} rows */
  function key(event, rows) {
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (move && rows.length) {
      at = (at + move + rows.length) % rows.length;
      event.preventDefault();
      draw();
      root.querySelector('.pr_.sel')?.scrollIntoView({ block: 'nearest' });
    } else if (event.key === 'Enter' && rows[at]) {
      event.preventDefault();
      close();
      rows[at].run();
    }
  }

  /** @param {string} what */
  function show(what) {
    before = document.activeElement;
    open = what;
    text = '';
    at = 0;
    draw();
    /** @type {HTMLElement | null} */ (root.querySelector(what === 'keys' ? '.pal' : 'input'))?.focus();
  }

  return { search: () => show('search'), keys: () => show('keys') };
}
