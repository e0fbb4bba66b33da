/** What both drawing frames do: take a text with its number, answer with what was made of it, or with why not. */

import { shellPort } from '../js/frame.js';

/** @typedef {{number: number, text: string, dark: boolean, display: boolean}} Wanted */

/** @param {(wanted: Wanted) => string | Promise<string>} draw */
export function drawOnRequest(draw) {
  const { tell, listen } = shellPort();
  let last = Promise.resolve(); // one after the other: they share the document
  listen({
    draw: (wanted) => {
      last = last.then(async () => {
        try {
          tell({ type: 'drawn', number: wanted.number, result: await draw(wanted), problem: '' });
        } catch (error) {
          const problem = String(/** @type {any} */ (error)?.message ?? error).slice(0, 300);
          tell({ type: 'drawn', number: wanted.number, result: '', problem });
        }
      });
    },
  });
}
