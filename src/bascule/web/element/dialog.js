/** The dialog that opens when nobody answers: how to start the bridge, the launch window, and the prompt to copy. */

import { made } from './look.js';

/** @typedef {{ again: () => void, window: () => void, copy: () => void }} DialogActions */

/**
 * @param {string} prompt
 * @param {DialogActions} does
 */
export function offlineDialog(prompt, does) {
  const text = made('textarea', { readonly: '', 'aria-label': 'The prompt' });
  text.value = prompt;
  text.addEventListener('focus', () => text.select());
  const dialog = made(
    'dialog',
    { 'aria-labelledby': 'offline-title' },
    made('h2', { id: 'offline-title' }, 'The launch bridge does not answer'),
    made(
      'p',
      {},
      'It opens a terminal on your computer with an agent and this prompt. Start it there, then try again: ',
      made('code', {}, 'bascule'),
      ' (with its workbench) or ',
      made('code', {}, 'bascule bridge'),
      ' (the bridge alone).',
    ),
    made('p', {}, 'Not installed yet? Bascule’s README has the one command. Until then, copy the prompt:'),
    text,
  );
  /** @type {[string, () => void][]} */
  const actions = [
    ['Try again', does.again],
    ['Open the launch window', does.window],
    ['Copy the prompt', does.copy],
    ['Close', () => {}],
  ];
  const buttons = actions.map(([words, run]) => {
    const button = made('button', { type: 'button' }, words);
    button.addEventListener('click', () => {
      if (run !== does.copy) dialog.close();
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
  if (!done) throw new Error('The browser does not copy here.');
}
