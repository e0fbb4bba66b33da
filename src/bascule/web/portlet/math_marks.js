/** Formulas in Markdown: $…$, $$…$$, \\(…\\) and \\[…\\], kept apart from prices and shell variables. */

/** @param {string} text */
const escaped = (text) => text.replace(/[&<>"]/g, (one) => `&#${one.charCodeAt(0)};`);

// An agent's own markup could say `type`, too: then it is a formula of the agent's, as any other.
const INLINE = [/^\$(?![\s$])((?:\\.|[^\\$\n]){1,500}?)(?<![\s\\])\$(?![\d\w])/, /^\\\(([^\n]{1,500}?)\\\)/];
const BLOCK = [/^\$\$([^]{1,4000}?)\$\$[ \t]*(?:\n|$)/, /^\\\[([^]{1,4000}?)\\\][ \t]*(?:\n|$)/];
// Words, numbers and paths between two dollars are no formula.
const FORMULA = /[\\^_={}<>+*/|]|^[a-zA-Z]$|^[a-zA-Z]\(/;

/**
 * @param {RegExp[]} marks
 * @param {string} text
 */
const found = (marks, text) => marks.map((mark) => mark.exec(text)).find((one) => one !== null);

export const MATH = [
  {
    name: 'formula',
    level: 'block',
    /** @param {string} text */
    start: (text) => /^(?:\$\$|\\\[)/m.exec(text)?.index,
    /** @param {string} text */
    tokenizer(text) {
      const one = found(BLOCK, text);
      return one && one[1].trim() ? { type: 'formula', raw: one[0], text: one[1].trim() } : undefined;
    },
    /** @param {{text: string}} token */
    renderer: (token) => `<p><code type="math-display">${escaped(token.text)}</code></p>`,
  },
  {
    name: 'inlineFormula',
    level: 'inline',
    /** @param {string} text */
    start: (text) => /\$|\\\(/.exec(text)?.index,
    /** @param {string} text */
    tokenizer(text) {
      const one = found(INLINE, text);
      if (!one || (one[0][0] === '$' && !FORMULA.test(one[1]))) return undefined;
      return { type: 'inlineFormula', raw: one[0], text: one[1].trim() };
    },
    /** @param {{text: string}} token */
    renderer: (token) => `<code type="math">${escaped(token.text)}</code>`,
  },
];
