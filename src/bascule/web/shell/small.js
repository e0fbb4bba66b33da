/**
 * Small parts of the frame: notes, the bottom bar of phones, the title's count, find in conversation, the locked door.
 */

import { h, iconButton, update } from '../js/dom.js';
import { icon } from '../js/icons.js';
import { count } from '../js/words.js';
import { badge } from './sidebar.js';
import { openAsks, shownSession, titleOf } from './state.js';
import { secret } from './app.js';

/** @typedef {import('./app.js').App} App */
/** @typedef {import('./state.js').State} State */

/**
 * @param {HTMLElement} root
 * @param {App} app
 */
export function mountNotes(root, app) {
  app.store.subscribe((state, before) => {
    if (state.notes === before.notes) return;
    update(
      root,
      state.notes.map((note) =>
        h(
          'div',
          { class: `note ${note.tone ?? ''}`, 'data-key': String(note.id) },
          icon(note.tone === 'bad' ? 'alert' : 'info'),
          h('span', null, note.text),
          note.action &&
            h(
              'button',
              {
                type: 'button',
                class: 'btn sm line',
                onclick: () => {
                  app.dropNote(note.id);
                  note.action?.run();
                },
              },
              note.action.label,
            ),
          iconButton('x', 'Close', { class: 'xs', onclick: () => app.dropNote(note.id) }),
        ),
      ),
    );
  });
}

/**
 * @param {HTMLElement} root
 * @param {App} app
 */
export function mountBottomBar(root, app) {
  const places = /** @type {const} */ ([
    ['list', 'chat', 'Sessions'],
    ['inbox', 'inbox', 'Inbox'],
    ['start', 'plus', 'New'],
    ['compare', 'columns', 'Compare'],
    ['settings', 'gear', 'Settings'],
  ]);
  /** @param {State} state */
  const draw = (state) => {
    const top = state.route.name !== 'session';
    document.body.classList.toggle('hasnav', top);
    document.body.classList.toggle('haslist', state.route.name === 'list');
    root.hidden = !top;
    update(
      root,
      places.map(([name, mark, label]) =>
        h(
          'button',
          {
            type: 'button',
            class: `${state.route.name === name ? 'sel' : ''} ${name === 'start' ? 'newb' : ''}`,
            'aria-current': state.route.name === name ? 'page' : null,
            onclick: () => app.go({ name }),
          },
          icon(mark, 20),
          h('span', null, label),
          name === 'inbox' && badge(openAsks(state).length),
        ),
      ),
    );
  };
  app.store.subscribe(draw);
  draw(app.store.get());
}

/**
 * The count of open requests in the tab's title and icon.
 * @param {App} app
 */
export function mountTitle(app) {
  const link = /** @type {HTMLLinkElement} */ (document.querySelector('link[rel=icon]'));
  const calm = link.href;
  let last = -1;
  app.store.subscribe((state) => {
    const n = openAsks(state).length;
    const session = state.sessions[shownSession(state) ?? ''];
    const name = state.route.name === 'session' && session?.title ? `${titleOf(session)} · Bascule` : 'Bascule';
    const title = n ? `(${n}) ${name}` : name;
    if (document.title !== title) document.title = title;
    if (n === last) return;
    last = n;
    link.href = n ? amberIcon(n) : calm;
  });
}

/** @param {number} n */
function amberIcon(n) {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 32;
  const draw = canvas.getContext('2d');
  if (!draw) return '';
  draw.fillStyle = '#e0af68';
  draw.beginPath();
  draw.arc(16, 16, 15, 0, 7);
  draw.fill();
  draw.fillStyle = '#17130a';
  draw.font = '700 20px sans-serif';
  draw.textAlign = 'center';
  draw.fillText(n > 9 ? '9+' : String(n), 16, 23);
  return canvas.toDataURL();
}

/**
 * @param {HTMLElement} root
 * @param {App} app
 * @param {() => boolean} elsewhere a terminal in front finds in itself
 */
export function mountFind(root, app, elsewhere) {
  let text = '';
  const ask = (/** @type {number} */ step) => {
    const id = shownSession(app.store.get());
    if (id) app.wells.tell(id, { type: 'find', text, step });
  };
  const result = h('span', { class: 'hint' });
  const field = h('input', {
    class: 'inp',
    'aria-label': 'Find in this conversation',
    placeholder: 'Find in this conversation',
    oninput: () => {
      text = field.value;
      ask(0);
    },
  });
  const close = () => {
    root.hidden = true;
    text = '';
    ask(0);
    document.getElementById('message')?.focus();
  };
  field.onkeydown = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === 'Escape') {
      event.stopPropagation();
      close();
    }
    if (event.key === 'Enter') {
      event.preventDefault();
      ask(event.shiftKey ? 1 : -1);
    }
  };
  root.append(
    h(
      'div',
      { class: 'findbar' },
      field,
      result,
      iconButton('up', 'Earlier', { onclick: () => ask(-1) }),
      iconButton('down', 'Later', { onclick: () => ask(1) }),
      iconButton('x', 'Close', { onclick: close }),
    ),
  );
  addEventListener('bascule:found', (/** @type {any} */ event) => {
    result.textContent = text
      ? event.detail.count
        ? `${event.detail.at} of ${event.detail.count}`
        : event.detail.looking
          ? 'looking'
          : 'not found'
      : '';
  });
  return {
    open: () => {
      if (elsewhere()) return;
      root.hidden = false;
      field.value = '';
      text = '';
      result.textContent = '';
      field.focus();
    },
  };
}

/**
 * This browser holds no key that opens. A link that no longer works must not lock out one who was in.
 * @param {HTMLElement} root
 * @param {App} app
 * @param {string | null} before the key from before this link
 */
export function mountLocked(root, app, before) {
  let problem = '';
  /** @param {boolean} locked */
  function draw(locked) {
    document.body.classList.toggle('islocked', locked);
    root.hidden = !locked;
    if (!locked) return;
    update(root, [
      h(
        'div',
        { class: 'center' },
        h(
          'div',
          { class: 'locked' },
          icon('logo', 56),
          h('h1', { class: 'hero' }, 'This browser is not trusted here'),
          h(
            'p',
            { class: 'lead' },
            'Bascule opens with a link that holds a key. Make one in a terminal on that machine, then open it here.',
          ),
          h('pre', null, 'bascule trust generate "this browser"'),
          h(
            'form',
            {
              onsubmit: (/** @type {any} */ event) => {
                event.preventDefault();
                void enter(event.currentTarget.querySelector('input').value);
              },
            },
            h('input', {
              class: 'inp mono grow',
              'aria-label': 'Link or key',
              placeholder: 'Or paste the link here',
              type: 'password',
              autocomplete: 'off',
            }),
            h('button', { class: 'btn pri', type: 'submit' }, 'Open'),
          ),
          problem && h('p', { class: 'emsg', role: 'alert' }, icon('alert', 14), problem),
        ),
      ),
    ]);
  }
  app.store.subscribe((now, last) => {
    const locked = now.line.phase === 'refused';
    if (locked && before) {
      secret.set(before);
      before = null;
      app.note('That link no longer works. You are in as before.', { tone: 'bad', stay: true });
      void app.feed.connect();
    } else if (locked !== (last.line.phase === 'refused') || (locked && !root.childElementCount)) draw(locked);
  });
  /** @param {string} text */
  async function enter(text) {
    const key = /(?:#(?:token|k)=)?([A-Za-z0-9_.~-]{8,})\s*$/.exec(text.trim())?.[1];
    problem = key ? '' : 'That is not a link of Bascule’s. It ends with #token= and the key.';
    if (key) {
      secret.set(key);
      await app.feed.connect();
      if (app.store.get().line.phase === 'refused')
        problem = 'That key opens nothing here. Links end or are revoked; make a new one.';
    }
    if (app.store.get().line.phase === 'refused') draw(true);
  }
}

/** @param {number} n */
export const waitingWords = (n) => `${count(n, 'request')} waiting`;
