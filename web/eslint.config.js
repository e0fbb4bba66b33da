// What ESLint checks in the page's JavaScript: few rules, each for a mistake that neither tsc nor Prettier sees.
import globals from 'globals';

const MAX_COLUMNS = 120;
const MAX_FUNCTION = 80;
const HTML_SINKS = ['innerHTML', 'outerHTML', 'insertAdjacentHTML', 'setHTMLUnsafe'];

// JSDoc tags begin a line each: one inside a sentence is overlooked.
const tagPerLine = {
  meta: { type: 'layout', schema: [] },
  create: (context) => ({
    Program() {
      for (const comment of context.sourceCode.getAllComments()) {
        if (comment.type !== 'Block' || !comment.value.startsWith('*')) continue;
        const crowded = comment.value
          .split('\n')
          .some((line) => /[^\s*].*(?<!\{)@(param|returns|typedef)\b/.test(line));
        if (crowded) context.report({ loc: comment.loc, message: 'Begin each JSDoc tag on a line of its own.' });
      }
    },
  }),
};

const rules = {
  'no-undef': 'error',
  'no-unused-vars': ['error', { argsIgnorePattern: '^_', caughtErrors: 'all', ignoreRestSiblings: true }],
  'no-shadow': ['error', { builtinGlobals: false }],
  'no-var': 'error',
  'prefer-const': 'error',
  eqeqeq: 'error',
  'no-implicit-coercion': 'error',
  'no-self-assign': 'error',
  'no-unreachable': 'error',
  'no-fallthrough': 'error',
  'no-dupe-keys': 'error',
  'no-duplicate-imports': 'error',
  'no-eval': 'error',
  'no-new-func': 'error',
  'no-restricted-properties': ['error', ...HTML_SINKS.map((property) => ({ property, message: 'Use text nodes.' }))],
  'max-len': ['error', { code: MAX_COLUMNS, ignoreRegExpLiterals: true, ignoreUrls: true }],
  'max-lines-per-function': ['error', { max: MAX_FUNCTION, skipBlankLines: true, skipComments: true }],
  'page/tag-per-line': 'error',
};

const plugins = { page: { rules: { 'tag-per-line': tagPerLine } } };

export default [
  { ignores: ['**/vendor/**', '**/bundle/**', '**/node_modules/**'] },
  {
    files: ['src/bascule/web/**/*.js'],
    ignores: ['src/bascule/web/worker.js'],
    languageOptions: { globals: globals.browser },
    plugins,
    rules,
  },
  { files: ['src/bascule/web/worker.js'], languageOptions: { globals: globals.serviceworker }, plugins, rules },
  { files: ['tests/web/*.mjs', 'web/*.js'], languageOptions: { globals: globals.node }, plugins, rules },
];
