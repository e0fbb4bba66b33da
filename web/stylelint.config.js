// What Stylelint checks in the page's CSS: mistakes, and each selector once in a file.
/** @type {import('stylelint').Config} */
export default {
  rules: {
    'block-no-empty': true,
    'color-no-invalid-hex': true,
    'declaration-block-no-duplicate-properties': [true, { ignore: ['consecutive-duplicates-with-different-values'] }],
    'declaration-block-no-shorthand-property-overrides': true,
    // Layers decide what wins. An exception says why, in a comment that disables this rule.
    'declaration-no-important': true,
    'function-calc-no-unspaced-operator': true,
    'no-duplicate-selectors': true,
    'no-invalid-position-at-import-rule': true,
    'property-no-unknown': true,
    'selector-pseudo-class-no-unknown': true,
    'selector-pseudo-element-no-unknown': true,
    'unit-no-unknown': true,
  },
};
