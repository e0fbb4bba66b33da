/** What could come next while a person types: the commands of the agent after a slash, files after an at sign. */

import { h, update } from '../../js/dom.js';
import { visible } from '../../js/visible.js';
import { OfferList } from './offer_list.js';

/** @typedef {import('./offer_list.js').Offer} Offer */

/**
 * `from` is where in the text the offer begins, so that choosing it replaces the rest up to the cursor.
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
  const list = new OfferList();
  let asked = 0;
  let dismissed = false; // by the person, until they type again
  const cursor = () => area.selectionStart ?? area.value.length;

  /** @param {string} [chosen] the label of the offer that stays chosen */
  async function look(chosen) {
    const number = ++asked;
    const before = area.value.slice(0, cursor());
    const hit = sources.map((source) => source(before)).find((one) => one !== null);
    const answer = hit ? hit.find() : [];
    if (answer instanceof Promise && list.narrow(hit?.from ?? 0, before)) draw();
    const some = answer instanceof Promise ? await answer : answer;
    if (number !== asked) return; // something was typed meanwhile
    list.fill(some.slice(0, MAX_OFFERS), hit?.from ?? 0, chosen);
    draw();
  }

  function draw() {
    element.hidden = !list.all.length;
    update(
      element,
      list.all.map((offer) => offerButton(offer, offer === list.chosen, () => choose(offer))),
    );
    element.querySelector('.is-on')?.scrollIntoView({ block: 'nearest' });
  }

  /** @param {Offer} offer */
  function choose({ insert, run }) {
    area.value = area.value.slice(0, list.from) + insert + area.value.slice(cursor());
    close();
    area.focus();
    area.setSelectionRange(list.from + insert.length, list.from + insert.length);
    changed();
    run?.();
  }

  function close() {
    asked++;
    list.fill([], list.from);
    draw();
  }

  closeAfterBlur(area, close);

  return {
    element,
    look() {
      dismissed = false;
      void look();
    },
    /** There may be others to offer; nothing was typed. */
    lookAgain: () => dismissed || void look(list.chosen?.label),
    close,
    /**
     * @param {KeyboardEvent} event
     * @returns {boolean} whether the key was for the menu
     */
    key(event) {
      const act = list.actOf(event.key, area.value.slice(0, cursor()));
      if (act === null) return false;
      event.preventDefault();
      if (act === 'choose') choose(list.chosen);
      else if (act === 'dismiss') {
        close();
        dismissed = true;
        event.stopPropagation();
      } else {
        list.step(act);
        draw();
      }
      return true;
    },
  };
}

/**
 * @param {HTMLTextAreaElement} area
 * @param {() => void} close
 */
const closeAfterBlur = (area, close) =>
  area.addEventListener('blur', () =>
    setTimeout(() => {
      if (document.activeElement !== area) close();
    }, BLUR_DELAY),
  );

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
        .filter((command) => command.name.toLowerCase().startsWith(wanted))
        .map((command) => ({
          label: `/${command.name}`,
          note: command.description ?? '',
          insert: `/${command.name} `,
        })),
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
      (item) =>
        (item.kind === 'file' || item.kind === 'folder') &&
        rank(item) < 2 &&
        !/\s/.test(item.name) &&
        (wanted || !item.name.startsWith('.')),
    )
    .sort((a, b) => rank(a) - rank(b))
    .map((item) => ({
      label: item.name + (item.kind === 'folder' ? '/' : ''),
      note: folder,
      insert: `@${folder}${item.name}${item.kind === 'folder' ? '/' : ' '}`,
    }));
}
