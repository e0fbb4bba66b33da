/** What both drawing frames do: take a text with its number, answer with what was made of it, or with why not. */

import { shellPort } from '../js/frame.js';
import { fieldsOf } from '../js/json.js';

/** @typedef {import('../js/frame_messages.d.ts').Drawing} Wanted */

/** @param {(wanted: Wanted) => string | Promise<string>} draw */
export function drawOnRequest(draw) {
  const { tell, listen } = shellPort();
  let last = Promise.resolve(); // one after the other: they share the document
  /** @type {import('../js/frame_messages.d.ts').Handlers<import('../js/frame_messages.d.ts').ToDrawer>} */
  const takes = {
    draw: (wanted) => {
      last = last.then(async () => {
        try {
          tell({ type: 'drawn', number: wanted.number, result: await draw(wanted), problem: '' });
        } catch (error) {
          const problem = String(fieldsOf(error).message ?? error).slice(0, 300);
          tell({ type: 'drawn', number: wanted.number, result: '', problem });
        }
      });
    },
  };
  listen(takes);
}
