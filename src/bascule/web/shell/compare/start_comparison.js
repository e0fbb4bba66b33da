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
    const rest = usable.filter((agent) => agent !== first);
    const toggle = (/** @type {string} */ name) => () => {
      if (others.has(name)) others.delete(name);
      else others.add(name);
      again();
      open(anchor, usable, first);
    };
    menu(anchor, [
      { title: `Besides ${first.title}, also ask` },
      ...rest.map((agent) => ({
        label: agent.title,
        note: agent.demo ? 'Built in, no account needed' : (agent.version ?? ''),
        on: others.has(agent.name),
        run:
          others.size >= MAX_AGENTS - 1 && !others.has(agent.name)
            ? () => app.note(`${MAX_AGENTS} agents at most.`)
            : toggle(agent.name),
      })),
    ]);
  }

  return {
    /**
     * The agents beside the first one that are still there.
     * @param {import('../../js/types.d.ts').AgentInfo[]} usable
     * @param {import('../../js/types.d.ts').AgentInfo} first
     */
    chosen: (usable, first) => besides(usable, first, others),
    alone: () => alone && others.size === 0,
    /**
     * The machine that takes no start in a mode that allows from here. One for several agents can’t be signed.
     * @param {import('../start/chips.js').Choices} chosen
     */
    refuses: ({ usable, agent, device, refuses }) =>
      usable.some((otherAgent) => otherAgent !== agent && others.has(otherAgent.name))
        ? refusingStart(device, false)
        : refuses,
    /**
     * @param {import('../../js/types.d.ts').AgentInfo[]} usable
     * @param {import('../../js/types.d.ts').AgentInfo} first
     */
    chip: (usable, first) =>
      first && usable.length > 1
        ? severalChip(besides(usable, first, others), (anchor) => open(anchor, usable, first))
        : null,
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
      const agents = [
        { agent: first.name, ...(model ? { model } : {}) },
        ...also.map((agent) => ({ agent: agent.name })),
      ];
      const made = await app.feed.call('compare:start', { ...command, agents, key: newKey() });
      others.clear();
      app.go({ name: 'compare', id: made.id });
      return made;
    },
  };
}

/**
 * The agents that were chosen beside the first one and are still there.
 * @param {import('../../js/types.d.ts').AgentInfo[]} usable
 * @param {import('../../js/types.d.ts').AgentInfo} first
 * @param {Set<string>} names
 */
export const besides = (usable, first, names) => usable.filter((agent) => agent !== first && names.has(agent.name));

/**
 * @param {import('../../js/types.d.ts').AgentInfo[]} also
 * @param {(anchor: HTMLElement) => void} open
 */
const severalChip = (also, open) =>
  h(
    'button',
    {
      type: 'button',
      class: `chip k-several ${also.length ? 'is-on' : ''}`,
      'data-key': 'several',
      'aria-haspopup': 'menu',
      title: 'Ask several agents at once, each in a work tree of its own',
      onclick: (/** @type {On} */ event) => open(event.currentTarget),
    },
    icon('columns', 14),
    also.map((agent) => agentLetter(agent.name)),
    also.length ? count(also.length + 1, 'agent') : 'Several agents',
    h('span', { class: 'chip__caret' }, icon('down', 12)),
  );

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
          { label: `In ${folder}`, note: 'It changes the files there', on: !alone, run: () => choose(false) },
          {
            label: 'In a work tree',
            note: 'A copy beside the repository; keep its changes if you like them',
            on: alone,
            run: () => choose(true),
          },
        ]),
    },
    icon('branch', 14),
    each ? 'A work tree each' : alone ? 'In a work tree' : `In ${folder}`,
    h('span', { class: 'chip__caret' }, icon('down', 12)),
  );
