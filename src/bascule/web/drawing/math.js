/** Sets formulas as MathML, in a frame of its own: loaded with the first formula of a session. */

import katex from '../vendor/katex.js';
import { drawOnRequest } from './frame.js';

// No commands that load, link or style; and an end to definitions that grow.
const OPTIONS = { output: 'mathml', throwOnError: true, strict: 'ignore', trust: false, maxSize: 20, maxExpand: 500 };

drawOnRequest(({ text, display }) => katex.renderToString(text, { ...OPTIONS, displayMode: display }));
