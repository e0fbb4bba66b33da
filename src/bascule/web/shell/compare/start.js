/** From the start screen: the same task for several agents, each in a work tree of its own. */

import { newKey } from '../../js/api.js';
import { h } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { count } from '../../js/format.js';
import { refusingStart } from '../owner_only.js';
import { agentLetter, menu } from '../parts.js';
import { MAX_AGENTS } from './comparison.js';

/** @typedef {import('../app.js').App} App */

/**
 * @param {App} app
 * @param {() => void} again
 */
export function severalAgents(app, again) {
  /** @type {Set<string>} */
  const others = new Set();
  let alone = false; // one agent, but in a work tree of its own

  /**
   * @param {HTMLElement} anchor
   * @param {import('../../js/types.d.ts').AgentInfo[]} usable
   * @param {import('../../js/types.d.ts').AgentInfo} first
   */
  function open(anchor, usable, first) {
    const rest = usable.filter((one) => one !== first);
    const toggle = (/** @type {string} */ name) => () => {
      if (others.has(name)) others.delete(name);
      else others.add(name);
      again();
      open(anchor, usable, first);
    };
    menu(anchor, [
      { title: `Besides ${first.title}, also ask` },
      ...rest.map((one) => ({
        label: one.title,
        note: one.demo ? 'comes with Bascule, no account' : (one.version ?? ''),
        on: others.has(one.name),
        run:
          others.size >= MAX_AGENTS - 1 && !others.has(one.name)
            ? () => app.note(`${MAX_AGENTS} agents at most.`)
            : toggle(one.name),
      })),
    ]);
  }

  return {
    /**
     * The agents beside the first one that are still there.
     * @param {import('../../js/types.d.ts').AgentInfo[]} usable
     * @param {import('../../js/types.d.ts').AgentInfo} first
     */
    chosen: (usable, first) => usable.filter((one) => one !== first && others.has(one.name)),
    alone: () => alone && others.size === 0,
    /**
     * The machine that takes no start in a mode that allows from here. One for several agents can’t be signed.
     * @param {import('../start/chips.js').Choices} chosen
     */
    refuses: ({ usable, agent, device, refuses }) =>
      usable.some((one) => one !== agent && others.has(one.name)) ? refusingStart(device, false) : refuses,
    /**
     * @param {import('../../js/types.d.ts').AgentInfo[]} usable
     * @param {import('../../js/types.d.ts').AgentInfo} first
     */
    chip(usable, first) {
      if (!first || usable.length < 2) return null;
      const also = usable.filter((one) => one !== first && others.has(one.name));
      const words = also.length ? count(also.length + 1, 'agent') : 'Several agents';
      return h(
        'button',
        {
          type: 'button',
          class: `chip k-several ${also.length ? 'is-on' : ''}`,
          'data-key': 'several',
          'aria-haspopup': 'menu',
          title: 'Ask several agents at once, each in a work tree of its own',
          onclick: (/** @type {On} */ event) => open(event.currentTarget, usable, first),
        },
        icon('columns', 14),
        also.map((one) => agentLetter(one.name)),
        words,
        h('span', { class: 'chip__caret' }, icon('down', 12)),
      );
    },
    /** @param {string} folder its name */
    treeChip: (folder) =>
      treeChip(folder, { alone, each: others.size > 0 }, (own) => {
        alone = own;
        again();
      }),
    /**
     * @param {import('../../js/types.d.ts').AgentInfo} first
     * @param {import('../../js/types.d.ts').AgentInfo[]} also
     * @param {Omit<import('../../js/types.d.ts').CompareBody, 'agents'> & {model: string, device?: string}} command
     */
    async start(first, also, { model, ...command }) {
      const agents = [{ agent: first.name, ...(model ? { model } : {}) }, ...also.map((one) => ({ agent: one.name }))];
      const made = await app.feed.call('compare:start', { ...command, agents, key: newKey() });
      others.clear();
      app.go({ name: 'compare', id: made.id });
      return made;
    },
  };
}

/**
 * Where one agent works; several have a tree each.
 * @param {string} folder its name
 * @param {{alone: boolean, each: boolean}} now
 * @param {(alone: boolean) => void} choose
 */
const treeChip = (folder, { alone, each }, choose) =>
  h(
    'button',
    {
      type: 'button',
      class: `chip k-tree ${alone || each ? 'is-set' : ''}`,
      'data-key': 'tree',
      'aria-haspopup': 'menu',
      disabled: each,
      title: each ? 'Several agents have a work tree each' : 'Where it works',
      onclick: (/** @type {On} */ event) =>
        menu(event.currentTarget, [
          { label: `In ${folder}`, note: 'it changes the files there', on: !alone, run: () => choose(false) },
          {
            label: 'In a work tree',
            note: 'a copy beside the repository; keep its changes when you like them',
            on: alone,
            run: () => choose(true),
          },
        ]),
    },
    icon('branch', 14),
    each ? 'A work tree each' : alone ? 'In a work tree' : `In ${folder}`,
    h('span', { class: 'chip__caret' }, icon('down', 12)),
  );
