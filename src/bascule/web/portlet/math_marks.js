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
const found = (marks, text) => marks.map((mark) => mark.exec(text)).find((match) => match !== null);

export const MATH = [
  {
    name: 'formula',
    level: 'block',
    /** @param {string} text */
    start: (text) => /^(?:\$\$|\\\[)/m.exec(text)?.index,
    /** @param {string} text */
    tokenizer(text) {
      const match = found(BLOCK, text);
      return match && match[1].trim() ? { type: 'formula', raw: match[0], text: match[1].trim() } : undefined;
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
      const match = found(INLINE, text);
      if (!match || (match[0][0] === '$' && !FORMULA.test(match[1]))) return undefined;
      return { type: 'inlineFormula', raw: match[0], text: match[1].trim() };
    },
    /** @param {{text: string}} token */
    renderer: (token) => `<code type="math">${escaped(token.text)}</code>`,
  },
];
