/** The text box of the composer, the start screen and the comparison: grows with its text, takes pictures. */

import { h, iconButton } from '../../js/dom.js';

const MAX_HEIGHT = 232; // pixels: ten lines
const MAX_IMAGE = 5 * 1024 * 1024;
const KINDS = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

/** @typedef {import('../../js/types.d.ts').SentImage} Picture */

/**
 * @param {Record<string, unknown>} attributes
 * @param {object} on
 * @param {() => void} on.change
 * @param {(event: KeyboardEvent) => boolean} on.sends whether Enter, pressed like this, sends
 * @param {() => void} on.send
 * @param {(event: KeyboardEvent) => boolean} [on.firstKey] whether something else took the key
 * @param {(event: KeyboardEvent) => void} [on.otherKey]
 */
export function textBox(attributes, on) {
  const area = /** @type {HTMLTextAreaElement} */ (h('textarea', { rows: 1, dir: 'auto', ...attributes }));
  const grow = () => {
    area.style.height = 'auto';
    area.style.height = `${Math.min(area.scrollHeight, MAX_HEIGHT)}px`;
  };
  /** Also after a script wrote into it what a person chose. */
  const changed = () => {
    grow();
    on.change();
  };
  area.oninput = changed;
  area.onkeydown = (event) => {
    if (on.firstKey?.(event) || event.isComposing) return;
    if (event.key === 'Enter' && on.sends(event)) {
      event.preventDefault();
      on.send();
    } else on.otherKey?.(event);
  };
  /** @param {string} text */
  const set = (text) => {
    area.value = text;
    grow();
  };
  return { area, grow, set, changed };
}

/**
 * @param {HTMLElement} box takes drops
 * @param {HTMLTextAreaElement} area
 * @param {(picture: Picture) => void} add
 * @param {(problem: string) => void} refuse
 */
export function takePictures(box, area, add, refuse) {
  const take = async (/** @type {File[]} */ files) => {
    for (const file of files) {
      if (!KINDS.includes(file.type))
        refuse('Only pictures can be attached (PNG, JPEG, GIF, WebP). Mention a file with @ instead.');
      else if (file.size > MAX_IMAGE) refuse('That picture is larger than 5 MB.');
      else add({ mediaType: /** @type {Picture['mediaType']} */ (file.type), data: await base64(file) });
    }
  };
  area.addEventListener('paste', (event) => {
    const files = [...(event.clipboardData?.files ?? [])];
    if (files.length) {
      event.preventDefault();
      void take(files);
    }
  });
  box.addEventListener('dragover', (event) => {
    if (event.dataTransfer?.types.includes('Files')) event.preventDefault();
  });
  box.addEventListener('drop', (event) => {
    const files = [...(event.dataTransfer?.files ?? [])];
    if (files.length) {
      event.preventDefault();
      void take(files);
    }
  });
  return take;
}

/**
 * @param {File} file
 * @returns {Promise<string>}
 */
function base64(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).split(',')[1] ?? '');
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}

/**
 * @param {Picture[]} pictures
 * @param {(n: number) => void} drop
 */
export const pictureRow = (pictures, drop) =>
  pictures.length > 0 &&
  h(
    'div',
    { class: 'shots' },
    pictures.map((picture, n) =>
      h(
        'span',
        null,
        h('img', { alt: `Picture ${n + 1}`, src: `data:${picture.mediaType};base64,${picture.data}` }),
        iconButton('x', 'Remove the picture', { onclick: () => drop(n) }),
      ),
    ),
  );

/**
 * A button that picks picture files.
 * @param {(files: File[]) => void} take
 */
export function attachButton(take) {
  const input = h('input', {
    type: 'file',
    accept: KINDS.join(','),
    multiple: true,
    hidden: true,
    onchange: () => {
      take([...(input.files ?? [])]);
      input.value = '';
    },
  });
  return [iconButton('clip', 'Attach pictures', { onclick: () => input.click() }), input];
}

const AGAIN = 3000; // the server forgets within six seconds

/**
 * Says that somebody types, at most every few seconds, and once that they stopped.
 * @param {(typing: boolean) => void} tell
 */
export function tellsTyping(tell) {
  let last = 0;
  return (/** @type {boolean} */ typing) => {
    const now = Date.now();
    if (typing ? now - last < AGAIN : last === 0) return;
    last = typing ? now : 0;
    tell(typing);
  };
}
