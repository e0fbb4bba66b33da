/**
 * The one policy for markup in this document. Quill turns pasted HTML, and an empty string now and then, into
 * elements by itself; whatever it does goes through DOMPurify first.
 */

import DOMPurify from '../vendor/purify.js';

const TAKEN = {
  FORBID_TAGS: ['style', 'form', 'input', 'button', 'textarea', 'select', 'img', 'svg', 'math', 'video', 'audio'],
  FORBID_ATTR: ['style', 'id', 'name', 'src', 'srcset'],
  ALLOW_DATA_ATTR: false,
  ADD_ATTR: ['data-list', 'data-language'],
};

/** @type {TrustedTypesWindow} */ (globalThis).trustedTypes?.createPolicy('default', {
  createHTML: (/** @type {string} */ html) => (html ? DOMPurify.sanitize(html, TAKEN) : ''),
});
