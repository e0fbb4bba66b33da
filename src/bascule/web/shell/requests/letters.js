/**
 * Letters and digits that answer the request in view: in the request itself, from the lists and bars beside it, and
 * anywhere on the inbox. Never while something is typed, and never from a frame, where an agent could forge them.
 */

import { FLOATING } from '../parts.js';
import { openRequests, requestKey, shownSession } from '../state.js';

/** @typedef {import('../state.js').State} State */

const TYPED = 'input:not([type=radio]):not([type=checkbox]), textarea, select, iframe';
const BESIDE = '#side, #sbar, #tabs';

/**
 * Would a letter answer the request in view, pressed with the focus here?
 * @param {State} state
 * @param {Element | null} focus
 */
export function lettersWork(state, focus) {
  const card = document.querySelector('#requests .request');
  // Not by `offsetParent`, which is null where a narrow window fixes the request over everything.
  if (!card?.getClientRects().length || !focus) return false;
  if (focus.closest(TYPED) || focus.closest(FLOATING)) return false;
  if (focus.closest('.request')) return true;
  if (state.route.name === 'inbox')
    return openRequests(state).some((request) => requestKey(request) === state.inboxPick);
  return shownSession(state) !== null && Boolean(focus.closest(BESIDE));
}

/**
 * @param {HTMLElement} root of the requests
 * @param {import('../app.js').App} app
 * @param {(pressed: string) => boolean} press whether it stands for anything
 */
export function listenForLetters(root, app, press) {
  // A press moves the focus, and caps that came or went under it would move the button away from the release.
  let pressed = false;
  const look = () => {
    if (!pressed) root.classList.toggle('has-keys', lettersWork(app.store.get(), document.activeElement));
  };
  const release = () =>
    setTimeout(() => {
      pressed = false;
      look();
    });
  addEventListener('pointerdown', () => (pressed = true), true);
  for (const end of ['pointerup', 'pointercancel']) addEventListener(end, release, true);
  const lookSoon = () => setTimeout(look); // while the focus moves it is nowhere
  for (const change of ['focusin', 'focusout']) document.addEventListener(change, lookSoon);
  addEventListener('blur', lookSoon); // also into a frame
  addEventListener('focus', lookSoon);
  app.store.subscribe(look);
  addEventListener('keydown', (event) => {
    if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const target = event.target instanceof Element ? event.target : document.body;
    if (lettersWork(app.store.get(), target) && press(event.key)) event.preventDefault();
  });
}
