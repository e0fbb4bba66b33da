/** Agents' words where a character that hides would mislead: written out, marked, and with a warning beside them. */

import { h } from '../js/dom.js';
import { hasHidden, visible, visiblePieces } from '../js/visible.js';
import { PICTURE } from './markdown.js';

/**
 * A path, command or name: hidden characters are marked where they stand.
 * @param {string} text
 * @returns {(Node | string)[]}
 */
export function exact(text) {
  if (!hasHidden(text)) return [text];
  return visiblePieces(text).map((piece) => (piece.escaped ? h('span', { class: 'escaped' }, piece.text) : piece.text));
}

/**
 * One line of it, however many it has; long runs of blanks can't push the end out of sight.
 * @param {string} text
 */
export const oneLine = (text) =>
  exact(
    text
      .slice(0, 4000)
      .trim()
      .replace(/\n+/g, ' ⏎ ')
      .replace(/[ \t]{2,}/g, ' ')
      .replace(/(.)\1{15,}/gu, '$1$1$1…'),
  );

/**
 * @param {...string} texts
 * @returns {Node | null}
 */
export const warning = (...texts) =>
  texts.some(hasHidden)
    ? h(
        'span',
        {
          class: 'hidden-characters',
          title: 'It contains invisible characters. They are written out, like \\u{202e}.',
        },
        'hidden characters',
      )
    : null;

/**
 * For labels and titles, where nothing can be marked.
 * @param {string} text
 */
export const plain = (text) => visible(text);

/**
 * Pictures of the log itself. Nothing is fetched, and a drawing that could hold more than a picture is only named.
 * @param {{media_type: string, data: string}[]} images
 * @param {string} alt
 */
export const pictures = (images, alt) =>
  images.map((image) =>
    PICTURE.test(image.media_type)
      ? h(
          'button',
          {
            type: 'button',
            class: 'picture-button',
            title: 'Show it larger or smaller',
            onclick: (/** @type {On} */ event) => event.currentTarget.classList.toggle('whole'),
          },
          h('img', { class: 'picture', alt, src: `data:${image.media_type};base64,${image.data}` }),
        )
      : h('p', { class: 'is-far' }, `[Picture of type ${plain(image.media_type.slice(0, 60))}, not shown]`),
  );
