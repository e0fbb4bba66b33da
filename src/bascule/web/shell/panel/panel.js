/** The right panel beside a session: its tabs, and which of them is in front. */

import { h, iconButton, update } from '../../js/dom.js';
import { nearPath } from '../../js/format.js';
import { icon } from '../../js/icons.js';
import { keptComments } from '../composer/comments.js';
import { ChangesTab } from './changes.js';
import { filesTab } from './files.js';
import { isGuest, shownSession } from '../state.js';
import { put, table } from '../../js/tables.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('../../js/dom.js').Child} Child */
/** @typedef {{label: string, mark: string, draw: (state: State, id: string) => (Child | Child[])[]}} Tab */
/** @typedef {Record<string, Tab>} Tabs */

const QUIET = 400; // edits come in bursts; one look after them is enough

/**
 * @param {HTMLElement} root
 * @param {App} app
 */
export function mountPanel(root, app) {
  const again = () => draw(app.store.get());
  const changes = new ChangesTab(app, again);
  const files = filesTab(app, again);
  /** @type {Tabs} */
  const tabs = table({
    changes: { label: 'Changes', mark: 'diff', draw: (state, id) => changes.draw(state, id) },
    files: { label: 'Files', mark: 'folder', draw: files.draw },
  });
  const parts = /** @type {HTMLElement} */ (document.getElementById('mswitch'));
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  /** @param {State} state */
  function draw(state) {
    const id = shownSession(state);
    const on = state.panel && state.route.name === 'session' && Boolean(id && state.sessions[id]) && !isGuest(state);
    root.hidden = !on;
    const frame = document.getElementById('app');
    frame?.classList.toggle('haspanel', on);
    const front = tabs[state.panelTab] ? state.panelTab : 'changes';
    frame?.classList.toggle('widepanel', on && front === 'changes' && changes.isWide() && changes.showsDiff(id ?? ''));
    drawSwitch(app, state, parts, tabs, on ? front : '');
    const { height, bottom } = parts.getBoundingClientRect();
    if (height) root.style.setProperty('--panel-top', `${Math.round(bottom)}px`);
    if (!on || !id) return;
    // As soon as the turns are known and never later, when a person may have chosen something else.
    if (state.panelTurn !== null && changes.isKnown(id)) {
      changes.showTurn(id, state.panelTurn);
      app.store.set({ panelTurn: null });
    }
    const wanted = state.panelFile;
    if (wanted?.id === id) {
      app.store.set({ panelFile: null });
      files.show(id, nearPath(wanted.path, state.sessions[id]?.cwd ?? ''), wanted.line);
    }
    const line = root.querySelector('.is-here')?.textContent;
    update(root, [
      panelHead(app, tabs, front, changes.count(id)),
      h(
        'div',
        { class: 'well panel__well', role: 'group', 'aria-label': tabs[front].label, 'data-key': `${front} ${id}` },
        [tabs[front].draw(state, id)].flat(2),
      ),
    ]);
    const here = root.querySelector('.is-here');
    if (here && here.textContent !== line) here.scrollIntoView({ block: 'center' });
  }

  app.store.subscribe((now, before) => {
    const id = shownSession(now) ?? '';
    if (id && !now.comments[id]) app.store.set((state) => ({ comments: put(state.comments, id, keptComments(id)) }));
    const session = now.sessions[id];
    if (now.live[id]?.edits !== before.live[id]?.edits || (session && session.phase !== before.sessions[id]?.phase)) {
      clearTimeout(timer);
      timer = setTimeout(() => {
        if (!root.hidden) changes.refresh(id, session?.cwd ?? '');
      }, QUIET);
    }
    const shown = /** @type {const} */ (['panel', 'panelTab', 'panelTurn', 'panelFile', 'route', 'comments', 'me']);
    if (shown.some((part) => now[part] !== before[part]) || session?.driver !== before.sessions[id]?.driver) draw(now);
  });
  addEventListener('resize', again);
  draw(app.store.get());
}

/**
 * @param {App} app
 * @param {Tabs} tabs
 * @param {string} front
 * @param {number | null} changed how many files are
 */
const panelHead = (app, tabs, front, changed) =>
  h(
    'header',
    null,
    h(
      'div',
      { class: 'segments', role: 'group', 'aria-label': 'Beside the session' },
      Object.entries(tabs).map(([name, tab]) =>
        h(
          'button',
          {
            type: 'button',
            'aria-pressed': String(name === front),
            class: name === front ? 'is-selected' : '',
            onclick: () => app.store.set({ panelTab: name }),
          },
          tab.label,
          name === 'changes' && changed ? h('span', { class: 'count' }, ` ${changed}`) : null,
        ),
      ),
    ),
    h('span', { class: 'spacer' }),
    iconButton('x', 'Close (Ctrl J)', { onclick: () => app.store.set({ panel: false }) }),
  );

/**
 * On a phone the panel takes the transcript's place; these go to and fro.
 * @param {App} app
 * @param {State} state
 * @param {HTMLElement} place
 * @param {Tabs} tabs
 * @param {string} front empty when the transcript is
 */
function drawSwitch(app, state, place, tabs, front) {
  const id = shownSession(state);
  place.hidden = !id || state.route.name !== 'session' || isGuest(state);
  if (place.hidden || !id) return;
  /**
   * @param {string} name
   * @param {string} mark
   * @param {string} label
   * @param {() => void} onclick
   */
  const part = (name, mark, label, onclick) =>
    h(
      'button',
      { type: 'button', class: front === name ? 'is-selected' : '', 'aria-pressed': String(front === name), onclick },
      icon(mark),
      h('span', null, label),
    );
  const terminal = state.sessions[id]?.driver === 'terminal';
  update(place, [
    part('', terminal ? 'terminal' : 'chat', terminal ? 'Terminal' : 'Chat', () => app.store.set({ panel: false })),
    ...Object.entries(tabs).map(([name, tab]) =>
      part(name, tab.mark, tab.label, () => app.store.set({ panel: true, panelTab: name })),
    ),
  ]);
}
