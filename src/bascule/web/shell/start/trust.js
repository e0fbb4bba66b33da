/** Trusting a folder: said in plain words before it is done, taken back by one press. */

import { folderName } from '../../js/format.js';
import { askCard } from '../ask_card.js';
import { onlyThere } from '../owner_only.js';

/** @typedef {import('../app.js').App} App */

/**
 * @param {App} app
 * @param {string} cwd
 * @param {HTMLElement} anchor
 * @param {{device?: string}} where
 * @param {import('../state.js').Device | undefined} refuses the machine that takes no trust from here
 * @returns {Promise<import('../parts.js').Choice[]>} nothing where nobody may trust, or there is no folder
 */
export async function trustChoices(app, cwd, anchor, where, refuses) {
  if (!cwd || app.store.get().me?.role !== 'owner') return [];
  const trusted = await app.api.trusted(where).catch(() => null); // the device is away
  if (!trusted) return [];
  const name = folderName(cwd);
  const set = async (/** @type {boolean} */ yes) => {
    try {
      await app.api.trust(cwd, yes, where);
      app.note(yes ? `${name} is now trusted.` : `${name} is no longer trusted.`);
    } catch (error) {
      app.trouble(error);
    }
  };
  const ask = () =>
    askCard(anchor, {
      title: `Trust ${name}?`,
      text:
        `Agents that ask “do you trust this folder?” get a yes, and read the project’s own settings: hooks, MCP ` +
        `servers and rules in ${cwd} can then run commands without asking you. Trust only what you know.`,
      yes: `Trust ${name}`,
      danger: true,
      run: () => void set(true),
    });
  return [
    'line',
    trusted.includes(cwd)
      ? { label: `Stop trusting ${name}`, note: 'Agents’ trust prompts wait for you again', run: () => void set(false) }
      : {
          label: `Trust ${name}…`,
          off: Boolean(refuses),
          note: refuses ? onlyThere(refuses) : 'Agents read its settings and ask no trust question',
          run: () => void ask(),
        },
  ];
}
