/** A session as a file: Markdown to read, a page to look at, JSON to keep. The server writes it, and hides secrets. */

import { save } from '../saving.js';

/** @typedef {import('../app.js').App} App */

/** @type {[('markdown' | 'html' | 'json'), string, string][]} */
export const FORMATS = [
  ['markdown', 'Export as Markdown', 'Plain text to read and paste'],
  ['html', 'Export as a web page', 'One file that opens anywhere, offline'],
  ['json', 'Export as JSON', 'Every entry, for programs'],
];

/**
 * @param {App} app
 * @param {string} id
 * @param {'markdown' | 'html' | 'json'} format
 * @param {boolean} [keep] what looks like a key or token stays; for an owner
 */
export async function exportSession(app, id, format, keep = false) {
  try {
    const { name, blob } = await app.api.exported(id, format, keep);
    save(blob, name);
  } catch (error) {
    app.trouble(error);
  }
}

/**
 * The whole conversation as a page of its own, to be read or printed: the browser prints only what is on the screen
 * of this one. A ticket opens it, once, because an address can't carry the key.
 * @param {App} app
 * @param {string} id
 */
export async function printSession(app, id) {
  const tab = window.open('', '_blank');
  try {
    const ticket = await app.api.exportTicket(id);
    const address = `/api/sessions/${encodeURIComponent(id)}/export?format=html&show=true&ticket=${ticket}`;
    if (!tab) throw new Error('The browser did not open a new tab. Allow pop-ups for this page, then try again.');
    tab.opener = null;
    tab.location.replace(address);
  } catch (error) {
    tab?.close();
    app.trouble(error);
  }
}
