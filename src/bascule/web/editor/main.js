/**
 * The frame in which a prompt is written. It has no secret and no network: a document comes over one port, and back
 * go the document after every change, and a few keys of the shell's own.
 */

import './markup.js';
import Quill from '../vendor/quill.js';
import { firstTheme, setTheme, shellPort } from '../js/frame.js';
import { toolbar } from './toolbar.js';

const SMALL = 20_000; // characters: up to here a change is sent at once
const PAUSE = 250; // milliseconds without a key before a larger document is sent
const KEYS = new Map([
  ['s', 's'],
  ['k', 'k'],
  ['enter', 'enter'],
]);

/** @param {string} id */
const place = (id) => /** @type {HTMLElement} */ (document.getElementById(id));
const { tell, listen } = shellPort();
setTheme(firstTheme());

const quill = new Quill(place('text'), {
  formats: [
    'bold',
    'italic',
    'strike',
    'code',
    'link',
    'header',
    'list',
    'indent',
    'blockquote',
    'code-block',
    'code-block-container',
  ],
  modules: { toolbar: false, uploader: { mimetypes: [] }, history: { delay: 600, userOnly: true } },
  placeholder: 'Write a prompt. {{name}} is asked for when it is used.',
});
quill.root.setAttribute('role', 'textbox');
quill.root.setAttribute('aria-multiline', 'true');
quill.root.setAttribute('aria-label', 'Text of the prompt');
quill.root.spellcheck = true;
toolbar(place('bar'), quill);

let number = 0; // of the document in view, so that a change of an earlier one is not taken for its
/** @type {ReturnType<typeof setTimeout> | undefined} */
let waiting;

function send() {
  clearTimeout(waiting);
  waiting = undefined;
  tell({ type: 'changed', number, delta: { ops: quill.getContents().ops } });
}

quill.on('text-change', (/** @type {unknown} */ _, /** @type {unknown} */ __, /** @type {string} */ source) => {
  if (source === 'silent' || source === 'api') return;
  clearTimeout(waiting);
  if (quill.getLength() <= SMALL) send();
  else waiting = setTimeout(send, PAUSE);
});
addEventListener('blur', () => waiting !== undefined && send());
addEventListener('pagehide', () => waiting !== undefined && send());

addEventListener(
  'keydown',
  (event) => {
    const key = KEYS.get(event.key.toLowerCase());
    if (!key || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    if (waiting !== undefined) send();
    tell({ type: 'key', key });
  },
  true,
);

/** @type {import('../js/frame_messages.d.ts').Handlers<import('../js/frame_messages.d.ts').ToEditor>} */
const takes = {
  open: (message) => {
    if (waiting !== undefined) send();
    number = message.number;
    quill.setContents(message.delta.ops, 'api');
    quill.history.clear();
    quill.enable(!message.readOnly);
    place('bar').hidden = message.readOnly;
    quill.root.scrollTop = 0;
  },
  theme: (message) => setTheme(message.theme),
  focus: () => quill.focus(),
};
listen(takes);
