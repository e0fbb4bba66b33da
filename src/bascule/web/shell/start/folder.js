/** A field for a folder's path: it completes while one types, and says at once whether the folder can be used. */

import { h, update } from '../../js/dom.js';
import { icon } from '../../js/icons.js';

/** @typedef {import('../app.js').App} App */

const PAUSE = 120;
let count = 0;

/**
 * Looked after here, not by whoever draws around it: put it into a slot with `data-island`.
 * @param {App} app
 * @param {{
 *   label: string,
 *   button: string,
 *   take: (path: string) => Promise<void> | void,
 *   cancel?: () => void,
 *   main?: boolean,
 * }} options `take` gets the folder's real path, and may refuse it by throwing what to say
 */
export function folderField(app, { label, button, take, cancel, main = false }) {
  const id = `folders-${++count}`;
  /** @type {string[]} */
  let offered = [];
  let at = -1;
  let asked = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let waiting;

  const list = h('ul', { class: 'ffl', id, role: 'listbox', 'aria-label': 'Folders', hidden: true });
  const verdict = h('span', { class: 'oki', hidden: true }, icon('check', 14), 'can be used');
  const problem = h('p', { class: 'emsg', role: 'alert', hidden: true });
  const input = /** @type {HTMLInputElement} */ (
    h('input', {
      class: 'inp mono',
      'aria-label': label,
      placeholder: '~/code/project',
      spellcheck: 'false',
      autocomplete: 'off',
      autocapitalize: 'off',
      role: 'combobox',
      'aria-autocomplete': 'list',
      'aria-controls': id,
      'aria-expanded': 'false',
      oninput: () => {
        say('');
        later();
      },
      onblur: () => setTimeout(left, 150),
      onkeydown: (/** @type {KeyboardEvent} */ event) => key(event),
    })
  );
  const form = h(
    'form',
    {
      class: 'ff',
      onsubmit: (/** @type {Event} */ event) => {
        event.preventDefault();
        void submit();
      },
    },
    h('div', { class: 'ffin' }, input, verdict, list),
    h(
      'div',
      { class: 'ffb' },
      cancel && h('button', { type: 'button', class: 'btn quiet', onclick: () => stop() }, 'Cancel'),
      h('button', { type: 'submit', class: `btn ${main ? 'pri' : 'line'}` }, button),
    ),
    problem,
  );

  /** @param {string} text what is wrong, empty for nothing */
  function say(text) {
    verdict.hidden = true;
    problem.hidden = !text;
    update(problem, text ? [icon('alert', 14), h('span', null, text)] : []);
    input.classList.toggle('err', Boolean(text));
  }

  function later() {
    clearTimeout(waiting);
    waiting = setTimeout(() => void complete(), PAUSE);
  }

  async function complete() {
    const mine = ++asked;
    // A help, no more: the check below says what is wrong.
    const found = await app.api.folders(input.value.trim()).catch(() => []);
    if (mine === asked && document.activeElement === input) show(found);
  }

  /** @param {string[]} folders */
  function show(folders) {
    offered = folders.filter((one) => one !== input.value.replace(/\/$/, ''));
    at = -1;
    draw();
  }

  function draw() {
    list.hidden = !offered.length;
    input.setAttribute('aria-expanded', String(offered.length > 0));
    if (at >= 0) input.setAttribute('aria-activedescendant', `${id}-${at}`);
    else input.removeAttribute('aria-activedescendant');
    update(
      list,
      offered.map((path, n) =>
        h(
          'li',
          {
            id: `${id}-${n}`,
            role: 'option',
            'aria-selected': String(n === at),
            class: n === at ? 'on' : '',
            onpointerdown: (/** @type {Event} */ event) => {
              event.preventDefault();
              choose(path);
            },
          },
          h('bdi', null, path.slice(0, path.lastIndexOf('/') + 1)),
          h('b', null, path.slice(path.lastIndexOf('/') + 1)),
        ),
      ),
    );
  }

  /** @param {string} path */
  function choose(path) {
    input.value = `${path}/`;
    say('');
    later();
  }

  /** @param {KeyboardEvent} event */
  function key(event) {
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (move && offered.length) {
      event.preventDefault();
      at = (at + move + offered.length) % offered.length;
      draw();
    } else if (event.key === 'Tab' && !event.shiftKey && offered.length && (at >= 0 || offered.length === 1)) {
      event.preventDefault();
      choose(offered[Math.max(0, at)]);
    } else if (event.key === 'Enter' && at >= 0) {
      event.preventDefault();
      choose(offered[at]);
    } else if (event.key === 'Escape' && (offered.length || cancel)) {
      event.stopPropagation();
      if (offered.length) show([]);
      else stop();
    }
  }

  /** Whoever leaves the field learns whether the folder can be used. */
  async function left() {
    if (form.contains(document.activeElement) && document.activeElement === input) return;
    show([]);
    const typed = input.value.trim();
    if (!typed || !problem.hidden) return;
    try {
      await app.api.directory(typed);
      if (input.value.trim() === typed) verdict.hidden = false;
    } catch (error) {
      if (input.value.trim() === typed && form.isConnected) say(/** @type {Error} */ (error).message);
    }
  }

  async function submit() {
    const typed = input.value.trim();
    asked += 1;
    show([]);
    if (!typed) return say('Type the path of a folder, such as ~/code/project.');
    try {
      await take((await app.api.directory(typed)).path);
      input.value = '';
      say('');
    } catch (error) {
      say(/** @type {Error} */ (error).message);
      input.focus();
    }
  }

  function stop() {
    asked += 1;
    input.value = '';
    show([]);
    say('');
    cancel?.();
  }

  return { form, focus: () => input.focus() };
}

/**
 * Puts an element that looks after itself into the slot a fresh drawing left for it.
 * @param {HTMLElement} root
 * @param {string} key
 * @param {HTMLElement} element
 */
export function fillSlot(root, key, element) {
  const slot = root.querySelector(`[data-island][data-key="${key}"]`);
  if (slot && element.parentElement !== slot) slot.replaceChildren(element);
}

/** @param {string} key */
export const slot = (key) => h('div', { 'data-island': '', 'data-key': key, class: 'slot' });
