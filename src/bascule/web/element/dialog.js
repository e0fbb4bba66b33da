/** The dialogs that help when a launch is not possible: what is wrong, what to do, and the prompt to copy. */

import { made } from './look.js';

/** @typedef {{ again: () => void, window: () => void, copy: () => void }} DialogActions */

/**
 * Nobody answers at the bridge's address.
 * @param {string} prompt
 * @param {DialogActions} does
 */
export function offlineDialog(prompt, does) {
  const said = [
    made(
      'p',
      {},
      'It opens a terminal on your computer with an agent and this prompt. Start it there, then try again: ',
      made('code', {}, 'bascule'),
      ' (with its workbench) or ',
      made('code', {}, 'bascule bridge'),
      ' (the bridge alone).',
    ),
    made('p', {}, 'Not installed yet? The command is in Bascule’s README. Until then, copy the prompt:'),
  ];
  return helpDialog('The launch bridge does not answer', said, prompt, does, ['again', 'window', 'copy']);
}

/**
 * The browser keeps the page from opening windows.
 * @param {string} prompt
 * @param {DialogActions} does
 */
export function noWindowDialog(prompt, does) {
  const said = made(
    'p',
    {},
    'Your browser blocked the launch window, which asks you before anything starts. Allow pop-up ' +
      'windows for this site, or open it from here. You can also copy the prompt:',
  );
  return helpDialog('The launch window was not opened', [said], prompt, does, ['window', 'copy']);
}

const ACTIONS = /** @type {Record<keyof DialogActions, string>} */ ({
  again: 'Try again',
  window: 'Open the launch window',
  copy: 'Copy the prompt',
});

/**
 * @param {string} title
 * @param {Node[]} said
 * @param {string} prompt
 * @param {DialogActions} does
 * @param {(keyof DialogActions)[]} offered
 */
function helpDialog(title, said, prompt, does, offered) {
  const text = made('textarea', { readonly: '', 'aria-label': 'The prompt' });
  text.value = prompt;
  text.addEventListener('focus', () => text.select());
  const heading = made('h2', { id: 'help-title' }, title);
  const dialog = made('dialog', { 'aria-labelledby': 'help-title' }, heading, ...said, text);
  /** @type {[string, () => void, boolean][]} */
  const actions = offered.map((name) => [ACTIONS[name], does[name], name !== 'copy']);
  const buttons = [...actions, /** @type {const} */ (['Close', () => {}, true])].map(([words, run, closes]) => {
    const button = made('button', { type: 'button' }, words);
    button.addEventListener('click', () => {
      if (closes) dialog.close();
      run();
    });
    return button;
  });
  dialog.append(made('div', { class: 'buttons' }, ...buttons));
  dialog.addEventListener('close', () => dialog.remove());
  return dialog;
}

/**
 * By the browser's clipboard, or, where a page may not use it, by what is selected.
 * @param {string} text
 * @param {ParentNode} root
 */
export async function copyText(text, root) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = made('textarea', { readonly: '' });
  area.value = text;
  root.append(area);
  area.select();
  const done = document.execCommand('copy');
  area.remove();
  if (!done) throw new Error('The browser can’t copy here.');
}
