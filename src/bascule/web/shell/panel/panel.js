/** The right panel beside a session: its tabs, and which of them is in front. */

import { h, iconButton, update } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { keptComments } from '../composer/comments.js';
import { changesTab } from './changes.js';
import { filesTab } from './files.js';
import { isGuest, shownSession } from '../state.js';
import { put, table } from '../../js/tables.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').State} State */

const QUIET = 400; // edits come in bursts; one look after them is enough

/**
 * @param {HTMLElement} root
 * @param {App} app
 */
export function mountPanel(root, app) {
  const again = () => draw(app.store.get());
  const changes = changesTab(app, again);
  const files = filesTab(app, again);
  /** @type {Record<string, {label: string, mark: string, draw: (state: State, id: string) => any}>} */
  const tabs = table({
    changes: { label: 'Changes', mark: 'diff', draw: changes.draw },
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
    frame?.classList.toggle('widepanel', on && front === 'changes' && changes.isWide());
    drawSwitch(state, id, on ? front : '');
    if (!on || !id) return;
    // As soon as the turns are known and never later, when a person may have chosen something else.
    if (state.panelTurn !== null && changes.isKnown(id)) {
      changes.showTurn(id, state.panelTurn);
      app.store.set({ panelTurn: null });
    }
    const n = changes.count(id);
    update(root, [
      h(
        'header',
        null,
        h(
          'div',
          { class: 'seg', role: 'group', 'aria-label': 'Beside the session' },
          Object.entries(tabs).map(([name, tab]) =>
            h(
              'button',
              {
                type: 'button',
                'aria-pressed': String(name === front),
                class: name === front ? 'sel' : '',
                onclick: () => app.store.set({ panelTab: name }),
              },
              tab.label,
              name === 'changes' && n ? h('span', { class: 'n' }, ` ${n}`) : null,
            ),
          ),
        ),
        h('span', { class: 'sp' }),
        iconButton('x', 'Close (Ctrl J)', { onclick: () => app.store.set({ panel: false }) }),
      ),
      h(
        'div',
        { class: 'well pw', role: 'group', 'aria-label': tabs[front].label, 'data-key': `${front} ${id}` },
        [tabs[front].draw(state, id)].flat(2),
      ),
    ]);
  }

  /**
   * On a phone the panel takes the transcript's place; these go to and fro.
   * @param {State} state
   * @param {string | null} id
   * @param {string} front
   */
  function drawSwitch(state, id, front) {
    const none = !id || state.route.name !== 'session' || isGuest(state);
    parts.hidden = none;
    if (none) return;
    const part = (
      /** @type {string} */ name,
      /** @type {string} */ mark,
      /** @type {string} */ label,
      /** @type {() => void} */ go,
    ) =>
      h(
        'button',
        { type: 'button', class: front === name ? 'sel' : '', 'aria-pressed': String(front === name), onclick: go },
        icon(mark),
        h('span', null, label),
      );
    const terminal = state.sessions[id]?.driver === 'terminal';
    update(parts, [
      part('', terminal ? 'terminal' : 'chat', terminal ? 'Terminal' : 'Chat', () => app.store.set({ panel: false })),
      ...Object.entries(tabs).map(([name, tab]) =>
        part(name, tab.mark, tab.label, () => app.store.set({ panel: true, panelTab: name })),
      ),
    ]);
    const place = parts.getBoundingClientRect();
    if (place.height) root.style.setProperty('--panel-top', `${Math.round(place.bottom)}px`);
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
    const shown = /** @type {const} */ (['panel', 'panelTab', 'panelTurn', 'route', 'comments', 'me']);
    if (shown.some((part) => now[part] !== before[part]) || session?.driver !== before.sessions[id]?.driver) draw(now);
  });
  addEventListener('resize', again);
  draw(app.store.get());
}
