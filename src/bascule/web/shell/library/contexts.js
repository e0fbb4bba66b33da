/** Context blocks: texts that stand before a prompt. Which ones a prompt names, and which come by themselves. Pure. */

/** @typedef {import('../../js/types.d.ts').PromptView} Prompt */

/**
 * The blocks that can stand before a prompt of this project, those of the project first.
 * @param {Prompt[] | null} prompts
 * @param {string | null | undefined} projectId
 */
export const blocksFor = (prompts, projectId) =>
  (prompts ?? [])
    .filter((prompt) => prompt.kind === 'context' && (!prompt.projectId || prompt.projectId === projectId))
    .sort((a, b) => Number(Boolean(b.projectId)) - Number(Boolean(a.projectId)) || a.title.localeCompare(b.title));

/**
 * The ids of the blocks that stand before a prompt unless somebody says otherwise: those that always do, then those
 * it names, in its order.
 * @param {Prompt[] | null} prompts
 * @param {{contexts: string[], projectId?: string | null}} prompt
 */
export function blocksOf(prompts, { contexts, projectId }) {
  const there = blocksFor(prompts, projectId);
  const always = there.filter((prompt) => prompt.always && !contexts.includes(prompt.id)).map((prompt) => prompt.id);
  const isBlock = (/** @type {string} */ id) =>
    prompts?.some((prompt) => prompt.id === id && prompt.kind === 'context');
  return [...always, ...contexts.filter(isBlock)];
}
