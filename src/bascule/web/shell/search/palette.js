/** Search and commands in one place: sessions by name, what was said in them, what can be done. */

import { h, iconButton, update } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { visible } from '../../js/visible.js';
import { age, folderName } from '../../js/format.js';
import { NOTHING, marked, seeker } from './hits.js';
import { agentLetter, dot, keyCap, keyName } from '../parts.js';
import { nextTheme } from '../sidebar/sidebar.js';
import { mayStart, sessionsInOrder, statusOf, titleOf } from '../state.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {{key: string, mark: any, label: any, note: string, run: () => void}} Row */

const SAID = 20;

const KEYS = [
  ['Ctrl K', 'Search, commands'],
  ['N', 'New session'],
  ['G I', 'Inbox'],
  ['Alt 1–9', 'Tab'],
  ['Ctrl B', 'Sidebar'],
  ['Ctrl J', 'Changes'],
  ['Alt W', 'Close tab'],
  ['Alt ↑ ↓', 'Your messages'],
  ['Enter', 'Send'],
  ['⇧ Enter', 'New line'],
  ['Esc Esc', 'Interrupt'],
  ['Ctrl .', 'Focus the request'],
  ['A', 'Allow once'],
  ['S', 'Allow in session'],
  ['D', 'Deny'],
  ['⇧ D', 'Deny with a reason'],
  ['1–9', 'Pick an option'],
  ['J K O', 'Move, open (inbox)'],
  ['↑', 'Edit last queued'],
  ['Ctrl F', 'Find here'],
  ['?', 'All keys'],
];

/**
 * @param {HTMLElement} root
 * @param {App} app
 */
export function mountPalette(root, app) {
  let text = '';
  let at = 0;
  let open = '';
  let found = NOTHING;
  /** @type {Element | null} */
  let before = null;
  const seek = seeker(app, SAID, (answer) => {
    found = answer;
    if (open === 'search') draw();
  });

  const close = () => {
    open = '';
    update(root, []);
    if (before instanceof HTMLElement && before.isConnected) before.focus();
  };
  const seeAll = () => {
    const q = text.trim();
    close();
    app.go({ name: 'search', q });
  };

  /** @type {import('../app.js').Command[]} */
  const own = [
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
    { icon: 'list', label: 'All keys', keys: '?', run: () => show('keys') },
    { icon: 'lock', label: 'Log out of this browser', run: () => void app.leave() },
  ];

  /** @returns {{title: string, rows: Row[]}[]} */
  function sections() {
    const state = app.store.get();
    const wanted = text.trim().toLowerCase();
    const fits = (/** @type {string} */ label) => label.toLowerCase().includes(wanted);
    const sessions = sessionsInOrder(state)
      .filter((one) => fits(titleOf(one)) || fits(folderName(one.cwd)))
      .slice(0, 6)
      .map((one) => {
        const status = statusOf(state, one);
        return {
          key: one.session_id,
          mark: dot(status.dot, status.word),
          label: underlined(titleOf(one)),
          note: `${folderName(one.cwd)} · ${status.word.toLowerCase()}`,
          run: () => app.go({ name: 'session', id: one.session_id }),
        };
      });
    const said = (wanted && found.q.toLowerCase().startsWith(wanted.slice(0, 1)) ? found.hits : [])
      .filter((hit) => hit.firstSeq > 0)
      .slice(0, 4)
      .map((hit) => ({
        key: `${hit.sessionId}/${hit.firstSeq}`,
        mark: agentLetter(state.sessions[hit.sessionId]?.agent || hit.title),
        label: marked(hit.snippet),
        note: `${visible(hit.title ?? '') || 'New session'} · ${age(hit.at, Date.now())}`,
        run: () => app.goTo(hit.sessionId, hit.firstSeq),
      }));
    const commands = [...own, ...app.commands]
      .filter((one) => fits(one.label) && (one.when?.() ?? true))
      .map((one) => ({
        key: one.label,
        mark: icon(one.icon),
        label: underlined(one.label),
        note: keyName(one.keys ?? ''),
        run: one.run,
      }));
    return [
      { title: 'Sessions', rows: sessions },
      { title: 'Said in sessions', rows: said },
      { title: 'Commands', rows: wanted ? commands : commands.slice(0, 6) },
    ].filter((one) => one.rows.length);
  }

  /** @param {string} label */
  function underlined(label) {
    const wanted = text.trim().toLowerCase();
    const place = wanted ? label.toLowerCase().indexOf(wanted) : -1;
    if (place < 0) return [label];
    return [
      label.slice(0, place),
      h('mark', null, label.slice(place, place + wanted.length)),
      label.slice(place + wanted.length),
    ];
  }

  function draw() {
    if (open === 'keys') {
      update(root, [
        scrim('All keys', [
          h('header', { class: 'keyhead' }, h('h2', null, 'All keys'), iconButton('x', 'Close', { onclick: close })),
          h(
            'dl',
            { class: 'keysheet' },
            KEYS.map(([keys, does]) => h('div', null, h('dt', null, does), h('dd', null, keyCap(keys)))),
          ),
        ]),
      ]);
      return;
    }
    const parts = sections();
    const rows = parts.flatMap((part) => part.rows);
    at = Math.min(at, Math.max(0, rows.length - 1));
    let n = -1;
    update(root, [
      scrim('Search', [
        h(
          'div',
          { class: 'pin' },
          icon('search'),
          h('input', {
            'aria-label': 'Search or run a command',
            placeholder: 'Search or run a command',
            role: 'combobox',
            'aria-expanded': 'true',
            'aria-controls': 'pal-list',
            'aria-activedescendant': rows.length ? `pal-${at}` : null,
            'data-key': 'q',
            maxlength: 1000,
            autocomplete: 'off',
            spellcheck: 'false',
            oninput: (/** @type {any} */ event) => {
              text = event.currentTarget.value;
              at = 0;
              seek.look(text);
              draw();
            },
            onkeydown: (/** @type {KeyboardEvent} */ event) => key(event, rows),
          }),
          keyCap('Esc'),
          h(
            'button',
            { type: 'button', class: 'ib pclose', 'aria-label': 'Close', tabindex: -1, onclick: close },
            icon('x'),
          ),
        ),
        h(
          'div',
          { class: 'pres', id: 'pal-list', role: 'listbox', 'aria-label': 'Results' },
          parts.length
            ? parts.map((part) =>
                h(
                  'div',
                  { role: 'group', 'aria-label': part.title, 'data-key': part.title },
                  h('p', { class: 'cap', 'aria-hidden': 'true' }, part.title),
                  part.rows.map((row) => {
                    const here = ++n;
                    return h(
                      'div',
                      {
                        class: `pr_ ${here === at ? 'sel' : ''}`,
                        id: `pal-${here}`,
                        'data-key': row.key,
                        role: 'option',
                        'aria-selected': String(here === at),
                        onclick: () => {
                          close();
                          row.run();
                        },
                      },
                      row.mark,
                      h('span', { class: 'pt' }, row.label),
                      h('small', null, row.note),
                    );
                  }),
                ),
              )
            : h('p', { class: 'nothing' }, 'Nothing found.'),
        ),
        h(
          'footer',
          null,
          h('span', null, h('kbd', null, '↑'), h('kbd', null, '↓'), 'move'),
          h('span', null, h('kbd', null, '⏎'), 'open'),
          h('span', { class: 'sp' }),
          text.trim() &&
            h(
              'button',
              { type: 'button', class: 'allres', tabindex: -1, onclick: seeAll },
              h('kbd', null, 'Tab'),
              'all results',
            ),
        ),
      ]),
    ]);
  }

  /**
   * @param {string} label
   * @param {any} content
   */
  const scrim = (label, content) =>
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
          class: `pal ${label === 'Search' ? '' : 'sheet'}`,
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

  /**
   * @param {KeyboardEvent} event
   * @param {Row[]} rows
   */
  function key(event, rows) {
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (move && rows.length) {
      at = (at + move + rows.length) % rows.length;
      event.preventDefault();
      draw();
      root.querySelector('.pr_.sel')?.scrollIntoView({ block: 'nearest' });
    } else if (event.key === 'Tab' && text.trim()) {
      event.preventDefault();
      seeAll();
    } else if (event.key === 'Enter' && rows[at]) {
      event.preventDefault();
      close();
      rows[at].run();
    }
  }

  /** @param {string} what */
  function show(what) {
    if (!open) before = document.activeElement;
    open = what;
    text = '';
    at = 0;
    found = NOTHING;
    draw();
    /** @type {HTMLElement | null} */ (root.querySelector(what === 'keys' ? '.pal' : 'input'))?.focus();
  }

  return { search: () => show('search'), keys: () => show('keys') };
}
