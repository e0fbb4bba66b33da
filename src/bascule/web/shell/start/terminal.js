/** On the start screen: a shell, or an agent on its own screen, in the chosen folder. */

import { h } from '../../js/dom.js';
import { icon } from '../../js/icons.js';
import { askCard } from '../ask_card.js';
import { onDevice, screenAgents } from '../machines.js';
import { onlyThere } from '../owner_only.js';
import { agentLetter, menu } from '../parts.js';
import { mayStart } from '../state.js';
import { openTerminal } from '../terminal/terminals.js';

/** @typedef {import('../app.js').App} App */

/**
 * @param {App} app
 * @param {import('../state.js').State} state
 * @param {import('./chips.js').Choices} chosen
 */
export function terminalChips(app, state, { cwd, device, problem, refuses }) {
  if (problem) return [];
  const screens = screenAgents(state, device?.device).filter((agent) => agent.available && !agent.demo);
  if (!mayStart(state) || !screens.length) return [];
  const shell = screens.find((screen) => screen.name === 'shell');
  const agents = screens.filter((screen) => screen !== shell);
  const place = { cwd: cwd || null, ...onDevice(state, device?.device) };
  const open = (/** @type {string} */ agent) => void openTerminal(app, { agent, ...place });
  return [
    shell &&
      h(
        'button',
        { type: 'button', class: 'chip', 'data-key': 'shell', onclick: () => open('shell') },
        icon('terminal', 14),
        'Open a terminal',
      ),
    agents.length > 0 &&
      h(
        'button',
        {
          type: 'button',
          class: 'chip',
          'data-key': 'screen',
          'aria-haspopup': 'menu',
          onclick: (/** @type {On} */ event) =>
            menu(event.currentTarget, [
              { title: 'In its own terminal' },
              ...agents.map((agent) => ({
                label: agent.title,
                note: agent.version ?? '',
                run: () => open(agent.name),
              })),
              ...unaskedChoices(app, event.currentTarget, agents, place, refuses),
            ]),
        },
        agentLetter(agents[0].name),
        agents.length === 1 ? `Open ${agents[0].title}’s terminal` : 'Open an agent’s terminal',
        h('span', { class: 'chip__caret' }, icon('down', 12)),
      ),
  ];
}

/**
 * Without permission prompts: chosen for one terminal, in words, and asked about.
 * @param {App} app
 * @param {HTMLElement} anchor
 * @param {import('../state.js').AgentInfo[]} agents
 * @param {{cwd: string | null, device?: string}} place
 * @param {import('../state.js').Device | undefined} refuses the machine that starts no such agent from here
 * @returns {import('../parts.js').Choice[]}
 */
function unaskedChoices(app, anchor, agents, place, refuses) {
  const able = agents.filter((agent) => agent.skips_permissions);
  if (!able.length) return [];
  return [
    'line',
    ...able.map((agent) => ({
      label: `${agent.title}, skipping permissions…`,
      off: Boolean(refuses),
      note: refuses ? onlyThere(refuses) : 'It acts without asking',
      danger: true,
      run: () =>
        void askCard(anchor, {
          title: `Start ${agent.title} without permission prompts?`,
          text:
            `It will run commands and change files without asking you, and Bascule’s rules don’t apply: nothing ` +
            `stops it in ${place.cwd || 'your home folder'} or wherever else you may write. Only this terminal is ` +
            'affected.',
          yes: 'Skip permissions and start',
          danger: true,
          run: () => void openTerminal(app, { agent: agent.name, ...place, skipPermissions: true }),
        }),
    })),
  ];
}
