/** What could come next while a person types: the commands of the agent after a slash, files after an at sign. */

import { h, update } from '../../js/dom.js';
import { visible } from '../../js/visible.js';

/**
 * `from` is where in the text the offer begins, so that choosing it replaces the rest up to the cursor.
 * `run` is for an offer that is more than its text: what was typed for it is taken away first.
 * @typedef {{label: string, note: string, insert: string, run?: () => void}} Offer
 * @typedef {(before: string) => {from: number, find: () => Promise<Offer[]> | Offer[]} | null} Source
 */

const MAX_OFFERS = 30;
const BLUR_DELAY = 150; // milliseconds: a click on an offer comes after the blur

/**
 * @param {HTMLTextAreaElement} area
 * @param {Source[]} sources
 * @param {() => void} changed
 * @param {string} [id]
 */
export function offers(area, sources, changed, id = 'offers') {
  const element = h('div', { class: 'slash', role: 'listbox', id, 'aria-label': 'Offers', hidden: true });
  /** @type {Offer[]} */
  let found = [];
  let from = 0;
  let at = 0;
  let asked = 0;

  async function look() {
    const number = ++asked;
    const before = area.value.slice(0, area.selectionStart ?? area.value.length);
    const hit = sources.map((source) => source(before)).find((one) => one !== null);
    const answer = hit ? hit.find() : [];
    if (answer instanceof Promise) leaveFitting(hit?.from ?? 0, before);
    const some = answer instanceof Promise ? await answer : answer;
    if (number !== asked) return; // something was typed meanwhile
    found = some.slice(0, MAX_OFFERS);
    from = hit?.from ?? 0;
    at = 0;
    draw();
  }

  /**
   * While better ones are looked for, only those stay that Enter could mean.
   * @param {number} begin
   * @param {string} before
   */
  function leaveFitting(begin, before) {
    const typed = before.slice(begin);
    const fitting = found.filter((one) => begin === from && holdsInOrder(one.insert, typed));
    if (fitting.length === found.length) return;
    found = fitting;
    at = 0;
    draw();
  }

  function draw() {
    element.hidden = !found.length;
    update(
      element,
      found.map((one, n) => offerButton(one, n === at, () => choose(n))),
    );
    element.querySelector('.is-on')?.scrollIntoView({ block: 'nearest' });
  }

  /** @param {number} n */
  function choose(n) {
    const { insert, run } = found[n];
    const end = area.selectionStart ?? area.value.length;
    area.value = area.value.slice(0, from) + insert + area.value.slice(end);
    close();
    area.focus();
    area.setSelectionRange(from + insert.length, from + insert.length);
    changed();
    run?.();
  }

  function close() {
    asked++;
    found = [];
    draw();
  }

  area.addEventListener('blur', () =>
    setTimeout(() => {
      if (document.activeElement !== area) close();
    }, BLUR_DELAY),
  );

  return {
    element,
    look: () => void look(),
    close,
    /**
     * @param {KeyboardEvent} event
     * @returns {boolean} whether the key was for the menu
     */
    key(event) {
      if (!found.length) return false;
      const typed = area.value.slice(from, area.selectionStart ?? area.value.length);
      if (event.key === 'ArrowDown') at = (at + 1) % found.length;
      else if (event.key === 'ArrowUp') at = (at - 1 + found.length) % found.length;
      else if (event.key === 'Tab' || (event.key === 'Enter' && typed !== found[at].insert.trimEnd())) {
        choose(at);
        event.preventDefault();
        return true;
      } else if (event.key === 'Escape') {
        close();
        event.stopPropagation();
      } else return false;
      event.preventDefault();
      draw();
      return true;
    },
  };
}

/**
 * Whether the letters are in the text, one after the other.
 * @param {string} text
 * @param {string} letters
 */
function holdsInOrder(text, letters) {
  const all = text.toLowerCase();
  let at = 0;
  for (const letter of letters.toLowerCase()) {
    at = all.indexOf(letter, at) + 1;
    if (!at) return false;
  }
  return true;
}

/**
 * @param {Offer} offer
 * @param {boolean} isOn
 * @param {() => void} onclick
 */
const offerButton = ({ label, note }, isOn, onclick) =>
  h(
    'button',
    {
      type: 'button',
      role: 'option',
      tabindex: -1,
      'aria-selected': String(isOn),
      class: isOn ? 'is-on' : '',
      onclick,
    },
    h('b', null, visible(label)),
    h('small', null, visible(note)),
  );

/**
 * The agent's own commands, while the message begins with a slash.
 * @param {() => {name: string, description?: string}[]} commands
 * @returns {Source}
 */
export const commandOffers = (commands) => (before) => {
  const match = /^\/([\w:-]*)$/.exec(before);
  if (!match) return null;
  const wanted = match[1].toLowerCase();
  return {
    from: 0,
    find: () =>
      commands()
        .filter((one) => one.name.toLowerCase().startsWith(wanted))
        .map((one) => ({ label: `/${one.name}`, note: one.description ?? '', insert: `/${one.name} ` })),
  };
};

/**
 * Files of the project by letters of their path, best first. Before any letter, and where git knows none, what is in
 * the folder that was typed.
 * @param {(folder: string) => Promise<{name: string, kind: string}[]>} list
 * @param {(letters: string) => Promise<string[]>} find
 * @returns {Source}
 */
export const fileOffers = (list, find) => (before) => {
  const match = /(?:^|\s)@([^\s@]*)$/.exec(before);
  if (!match) return null;
  const typed = match[1];
  return {
    from: before.length - typed.length - 1,
    async find() {
      const paths = typed && !typed.endsWith('/') ? await find(typed) : [];
      const named = paths.filter((path) => !/\s/.test(path)).map(fileOffer);
      return named.length ? named : inFolder(list, typed);
    },
  };
};

/** @param {string} path */
function fileOffer(path) {
  const cut = path.lastIndexOf('/') + 1;
  return { label: path.slice(cut), note: path.slice(0, cut), insert: `@${path} ` };
}

/**
 * @param {(folder: string) => Promise<{name: string, kind: string}[]>} list
 * @param {string} typed
 * @returns {Promise<Offer[]>}
 */
async function inFolder(list, typed) {
  const cut = typed.lastIndexOf('/') + 1;
  const folder = typed.slice(0, cut);
  const wanted = typed.slice(cut).toLowerCase();
  const items = await list(folder.replace(/\/$/, ''));
  const rank = (/** @type {{name: string}} */ one) =>
    one.name.toLowerCase().startsWith(wanted) ? 0 : one.name.toLowerCase().includes(wanted) ? 1 : 2;
  return items
    .filter(
      (one) =>
        (one.kind === 'file' || one.kind === 'folder') &&
        rank(one) < 2 &&
        !/\s/.test(one.name) &&
        (wanted || !one.name.startsWith('.')),
    )
    .sort((a, b) => rank(a) - rank(b))
    .map((one) => ({
      label: one.name + (one.kind === 'folder' ? '/' : ''),
      note: folder,
      insert: `@${folder}${one.name}${one.kind === 'folder' ? '/' : ' '}`,
    }));
}
