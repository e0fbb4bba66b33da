/** A field for a folder's path: it completes while one types, and says at once whether the folder can be used. */

import { h, update } from '../../js/dom.js';
import { icon } from '../../js/icons.js';

/** @typedef {import('../app.js').App} App */

const PAUSE = 120; // milliseconds without a key, before folders are asked for
const BLUR_DELAY = 150; // milliseconds: a press on an offer comes after the blur
let fields = 0;

/**
 * `take` gets the folder's real path, and may refuse it by throwing what to say.
 * @typedef {{
 *   label: string,
 *   button: string,
 *   device: () => string | undefined,
 *   take: (path: string) => Promise<void> | void,
 *   cancel?: () => void,
 *   main?: boolean,
 * }} Options
 */

/**
 * Looked after here, not by what draws around it: put it into a slot with `data-island`.
 * @param {App} app
 * @param {Options} options
 * @returns {{form: HTMLElement, focus: () => void}}
 */
export function folderField(app, options) {
  const field = new FolderField(app, options);
  return { form: field.form, focus: () => field.input.focus() };
}

class FolderField {
  /**
   * @param {App} app
   * @param {Options} options
   */
  constructor(app, options) {
    this.app = app;
    this.options = options;
    this.id = `folders-${++fields}`;
    /** @type {string[]} */
    this.offered = [];
    this.at = -1; // which of those is chosen with the arrow keys
    this.asked = 0;
    this.isStale = false; // whether more was typed since those were offered
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.waiting = undefined;
    this.list = h('ul', {
      class: 'folder-field__list',
      id: this.id,
      role: 'listbox',
      'aria-label': 'Folders',
      hidden: true,
    });
    this.verdict = h('span', { class: 'folder-field__ok', hidden: true });
    this.problem = h('p', { class: 'error-message', role: 'alert', hidden: true });
    this.input = this.#input();
    this.form = this.#form();
  }

  /** @returns {HTMLInputElement} */
  #input() {
    return h('input', {
      class: 'input mono',
      'aria-label': this.options.label,
      placeholder: '~/code/project',
      spellcheck: 'false',
      autocomplete: 'off',
      autocapitalize: 'off',
      role: 'combobox',
      'aria-autocomplete': 'list',
      'aria-controls': this.id,
      'aria-expanded': 'false',
      oninput: () => {
        this.#say('');
        this.isStale = true;
        this.#completeNoMore(); // an answer that is under way is one to a text of before
        this.#completeLater();
      },
      onfocus: () => this.#completeLater(),
      onblur: () => setTimeout(() => void this.#left(), BLUR_DELAY),
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.#key(event),
    });
  }

  #form() {
    const { button, cancel, main } = this.options;
    return h(
      'form',
      {
        class: 'folder-field',
        onsubmit: (/** @type {Event} */ event) => {
          event.preventDefault();
          void this.#submit();
        },
      },
      h('div', { class: 'folder-field__input' }, this.input, this.verdict, this.list),
      h(
        'div',
        { class: 'folder-field__buttons' },
        cancel && h('button', { type: 'button', class: 'button quiet', onclick: () => this.#cancel() }, 'Cancel'),
        h('button', { type: 'submit', class: `button ${main ? 'is-primary' : 'line'}` }, button),
      ),
      this.problem,
    );
  }

  /** @param {string} text what is wrong, empty for nothing */
  #say(text) {
    this.verdict.hidden = true;
    this.problem.hidden = !text;
    update(this.problem, text ? [icon('alert', 14), h('span', null, text)] : []);
    this.input.classList.toggle('is-wrong', Boolean(text));
  }

  #completeLater() {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => void this.#complete(), PAUSE);
  }

  #completeNoMore() {
    clearTimeout(this.waiting);
    this.asked += 1;
  }

  async #complete() {
    const mine = ++this.asked;
    // A help, no more: the check below says what is wrong.
    const found = await this.app.api.folders(this.input.value.trim(), this.options.device()).catch(() => []);
    if (mine === this.asked && document.activeElement === this.input) this.#offer(found);
  }

  /** @param {string[]} folders */
  #offer(folders) {
    this.offered = folders.filter((folder) => folder !== this.input.value.replace(/\/$/, ''));
    this.at = -1;
    this.isStale = false;
    this.#draw();
  }

  #draw() {
    const { input, list, offered, at, id } = this;
    list.hidden = !offered.length;
    input.setAttribute('aria-expanded', String(offered.length > 0));
    if (at >= 0) input.setAttribute('aria-activedescendant', `${id}-${at}`);
    else input.removeAttribute('aria-activedescendant');
    update(
      list,
      offered.map((path, n) => folderOption(path, `${id}-${n}`, n === at, () => this.#choose(path))),
    );
  }

  /** @param {string} path */
  #choose(path) {
    this.input.value = `${path}/`;
    this.#offer([]);
    this.#say('');
    this.#completeLater();
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const { offered, at } = this;
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (move && offered.length) {
      event.preventDefault();
      this.#completeNoMore(); // what is chosen now is not taken away by an answer that comes late
      this.at = (at + move + offered.length) % offered.length;
      this.#draw();
    } else if (event.key === 'Tab' && !event.shiftKey && this.#isMeant()) {
      event.preventDefault();
      this.#choose(offered[Math.max(0, at)]);
    } else if (event.key === 'Enter' && at >= 0) {
      event.preventDefault();
      this.#choose(offered[at]);
    } else if (event.key === 'Escape' && (offered.length || this.options.cancel)) {
      event.stopPropagation();
      if (offered.length) this.#offer([]);
      else this.#cancel();
    }
  }

  /** Whether Tab takes an offer: one that was chosen, or the only one for what stands in the field now. */
  #isMeant() {
    return this.at >= 0 ? this.offered.length > 0 : this.offered.length === 1 && !this.isStale;
  }

  /** Leaving the field shows whether the folder can be used. */
  async #left() {
    const { input, form } = this;
    if (document.activeElement === input) return;
    this.#offer([]);
    const typed = input.value.trim();
    if (!typed || !this.problem.hidden) return;
    try {
      const { files } = await this.app.api.directory(typed, this.options.device());
      if (input.value.trim() !== typed) return;
      update(this.verdict, [icon('check', 14), sightOf(files)]);
      this.verdict.hidden = false;
    } catch (error) {
      if (input.value.trim() === typed && form.isConnected) this.#say(/** @type {Error} */ (error).message);
    }
  }

  async #submit() {
    const typed = this.input.value.trim();
    this.asked += 1;
    this.#offer([]);
    if (!typed) return this.#say('Type the path of a folder, such as ~/code/project.');
    try {
      const { path } = await this.app.api.directory(typed, this.options.device());
      await this.options.take(path);
      this.input.value = '';
      this.#say('');
    } catch (error) {
      this.#say(/** @type {Error} */ (error).message);
      this.input.focus();
    }
  }

  #cancel() {
    this.asked += 1;
    this.input.value = '';
    this.#offer([]);
    this.#say('');
    this.options.cancel?.();
  }
}

/**
 * @param {number | null | undefined} files how many git sees
 */
const sightOf = (files) =>
  typeof files === 'number' ? `git, ${files.toLocaleString('en')} ${files === 1 ? 'file' : 'files'}` : 'can be used';

/**
 * @param {string} path
 * @param {string} id
 * @param {boolean} on
 * @param {() => void} choose
 */
const folderOption = (path, id, on, choose) =>
  h(
    'li',
    {
      id,
      role: 'option',
      'aria-selected': String(on),
      class: on ? 'is-on' : '',
      onpointerdown: (/** @type {Event} */ event) => {
        event.preventDefault();
        choose();
      },
    },
    h('bdi', null, path.slice(0, path.lastIndexOf('/') + 1)),
    h('b', null, path.slice(path.lastIndexOf('/') + 1)),
  );

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
