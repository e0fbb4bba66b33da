/** Prompts of the library, after the agent's own commands, while a message begins with a slash. Pure. */

import { usable } from './prompts.js';

/** @typedef {import('../composer/offers.js').Source} Source */

const MAX_PROMPTS = 12;

/**
 * @param {Source} commands
 * @param {() => Promise<import('../../js/types.d.ts').PromptView[] | null>} prompts
 * @param {(id: string) => void} choose
 * @returns {Source}
 */
export const promptOffers = (commands, prompts, choose) => (before) => {
  const match = /^\/([^\n/]{0,60})$/u.exec(before);
  if (!match) return null;
  return {
    from: 0,
    find: async () => {
      const own = (await commands(before)?.find()) ?? [];
      const some = usable(await prompts(), match[1]).slice(0, MAX_PROMPTS);
      return [
        ...own,
        ...some.map((prompt) => ({
          label: prompt.title,
          note: 'saved prompt',
          insert: '',
          run: () => choose(prompt.id),
        })),
      ];
    },
  };
};
