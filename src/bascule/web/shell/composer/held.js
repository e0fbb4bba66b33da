/** Messages that a stop held back: sent one by one, all together, or discarded. */

import { h } from '../../js/dom.js';
import { count } from '../../js/format.js';
import { draftOf, keepDraft } from '../storage.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../../js/types.d.ts').PromptQueued} PromptQueued */

/**
 * @param {App} app
 * @param {string} id
 * @param {PromptQueued[]} held
 */
export function heldButtons(app, id, held) {
  /**
   * @param {string} words
   * @param {string} look
   * @param {() => void} onclick
   */
  const button = (words, look, onclick) =>
    h('button', { type: 'button', class: `button is-small ${look}`, 'data-key': words, onclick }, words);
  return h(
    'div',
    { class: 'queue__decide' },
    button('Send next', 'line', () => release(app, id, held[0].prompt_id)),
    held.length > 1 && button('Send all', 'line', () => release(app, id)),
    button('Discard', 'quiet', () => discard(app, id, held)),
  );
}

/**
 * @param {App} app
 * @param {string} id
 * @param {string} [promptId] without one, all that is held
 */
export function release(app, id, promptId) {
  void app.api.queue(id, { op: 'release', ...(promptId ? { promptId } : {}) }).catch(app.trouble);
  document.getElementById('message')?.focus();
}

/** @typedef {import('../../js/types.d.ts').SentImage} SentImage */

/**
 * @param {import('../../js/types.d.ts').Image} image
 * @returns {SentImage}
 */
const asSent = (image) => ({ mediaType: /** @type {SentImage['mediaType']} */ (image.media_type), data: image.data });

/**
 * What was typed is not lost: it can be taken back into the message.
 * @param {App} app
 * @param {string} id
 * @param {PromptQueued[]} held
 */
function discard(app, id, held) {
  const run = () => {
    keepDraft(id, [...held.map((message) => message.text), draftOf(id)].filter(Boolean).join('\n\n'));
    const images = held.flatMap((message) => message.images ?? []);
    const pictures = images.map(asSent);
    app.events.emit('givenBack', { id, images: pictures });
  };
  const said = `${count(held.length, 'message')} discarded.`;
  app.api
    .queue(id, { op: 'discard' })
    .then(() => app.note(said, { action: { label: 'Edit instead', run } }))
    .catch(app.trouble);
  document.getElementById('message')?.focus();
}
