/**
 * The launch window: takes one prompt from the page that opened it, shows all of it and who asks, and does only what
 * a person clicks here.
 */

import { MODES, beginningOf, isTrustable, requestFrom, requestInFragment } from './request.js';
import { visible, visiblePieces } from '../js/visible.js';

/** @typedef {import('./request.js').PromptRequest} PromptRequest */

const INERT_MS = 500; // so that a click meant for the page below lands on nothing
const LOOK_MS = 300;
const CLOSE_MS = 2000;
const UNNAMED = 'a page that the browser does not name';
const PASTE = 'The page could not hand over its prompt. Copy it there and paste it here, or close this window.';

const page = /** @type {WindowProxy | null} */ (window.opener);
/** @type {PromptRequest | null} */
let request = null;
let origin = ''; // of the page; empty when unknown
let isBusy = false;
let inert = 0;

/** @param {string} id */
const at = (id) => /** @type {HTMLElement} */ (document.getElementById(id));
/** @param {string} name */
const meta = (name) => document.querySelector(`meta[name="${name}"]`)?.getAttribute('content') ?? '';
/** @param {string} id */
const buttonAt = (id) => /** @type {HTMLButtonElement} */ (at(id));
const BUTTONS = ['launch', 'session', 'copy', 'trust'].map(buttonAt);

/**
 * @param {string} words
 * @param {boolean} [bad]
 */
function say(words, bad = false) {
  at('status').textContent = words;
  at('status').classList.toggle('is-bad', bad);
}

/** Nothing can be pressed for a moment after the window came up or came back. */
function arm() {
  clearTimeout(inert);
  for (const button of BUTTONS) button.disabled = true;
  if (!request || isBusy || document.visibilityState !== 'visible') return;
  inert = setTimeout(() => BUTTONS.forEach((button) => (button.disabled = false)), INERT_MS);
}

/** @param {MessageEvent} event */
function take(event) {
  if (!page || event.source !== page || event.data?.type !== 'bascule:launch') return;
  removeEventListener('message', take); // the first one only
  show(requestFrom(event.data), event.origin);
}

/**
 * @param {{ request: PromptRequest | null, problem: string }} found
 * @param {string} from
 */
function show(found, from) {
  clearInterval(looking);
  if (!found.request) return askForPaste(found.problem);
  request = found.request;
  origin = from;
  const named = origin && origin !== 'null';
  at('title').textContent = 'Launch this prompt?';
  at('lead').textContent = 'A web page asks to run an agent on this computer. Nothing runs until you choose.';
  at('from').textContent = named ? origin : UNNAMED;
  at('folder').textContent = request.workingDirectory ? visible(request.workingDirectory) : 'your home folder';
  if (request.repo) void findClones(request.repo);
  at('agent').textContent = request.agent ? visible(request.agent) : 'your default agent';
  at('mode').textContent = MODES[request.mode ?? ''] ?? 'Plan if the agent has it; otherwise it asks before it acts';
  at('facts').hidden = at('what').hidden = at('buttons').hidden = false;
  at('paste').hidden = true;
  warn(named ? origin : '');
  const offered = meta('offered').split(' ');
  at('session').hidden = !offered.includes('session');
  at('trust').hidden = !offered.includes('trust') || !isTrustable(origin);
  showPrompt(request.prompt);
  at('title').focus();
  arm();
}

/**
 * The folders that the named repository is in, for the person to choose; the page learns none of them.
 * @param {string} repo
 */
async function findClones(repo) {
  const place = at('folder');
  place.textContent = `the clone of ${visible(repo)} that was used last`;
  try {
    const { data } = await asked('/window/clones', { repo });
    if (request?.repo !== repo) return;
    chooseAmong(data.folders);
  } catch (error) {
    place.textContent = /** @type {Error} */ (error).message;
    place.classList.add('is-bad');
  }
}

/** @param {string[]} folders the latest used first */
function chooseAmong(folders) {
  /** @param {string} folder */
  const use = (folder) => {
    if (!request) return; // it was launched
    const { repo: _, ...rest } = request;
    request = { ...rest, workingDirectory: folder };
  };
  use(folders[0]);
  if (folders.length === 1) {
    at('folder').textContent = visible(folders[0]);
    return;
  }
  const choice = document.createElement('select');
  choice.setAttribute('aria-label', 'Folder');
  choice.append(...folders.map((folder) => new Option(visible(folder), folder)));
  choice.onchange = () => use(choice.value);
  at('folder').replaceChildren(choice);
}

/** @param {string} from */
function warn(from) {
  const insecure = from.startsWith('http:') && !isTrustable(from);
  at('warning').hidden = Boolean(from) && !insecure;
  at('warning').textContent = insecure
    ? 'This page was loaded without encryption: somebody on the network may have changed the prompt.'
    : 'It is not known which page this came from. Read the prompt first.';
}

/** @param {string} prompt */
function showPrompt(prompt) {
  const beginning = beginningOf(prompt);
  const length = Array.from(prompt).length.toLocaleString('en');
  at('length').textContent = `${length} characters`;
  draw(beginning);
  const more = buttonAt('more');
  more.hidden = beginning === prompt;
  more.textContent = `Show all ${length} characters`;
  more.onclick = () => {
    draw(prompt);
    more.hidden = true;
  };
}

/**
 * As text, with every character in sight that could hide something.
 * @param {string} text
 */
function draw(text) {
  const pieces = visiblePieces(text).map(({ text: words, escaped }) => {
    if (!escaped) return words;
    const mark = document.createElement('mark');
    mark.textContent = words;
    return mark;
  });
  at('prompt').replaceChildren(...pieces);
}

/** @param {string} why */
function askForPaste(why) {
  clearInterval(looking);
  at('title').textContent = 'No prompt was handed over';
  at('lead').textContent = why;
  at('paste').hidden = false;
  at('paste').onsubmit = (event) => {
    event.preventDefault();
    show(requestFrom({ prompt: /** @type {HTMLTextAreaElement} */ (at('pasted')).value }), '');
  };
}

/**
 * What the bridge answers: which of these fields, the path says.
 * @typedef {{id: string, terminal: string, folders: string[], url: string}} Data
 */

/**
 * @param {string} path
 * @param {object | null} body
 */
async function asked(path, body) {
  const headers = /** @type {Record<string, string>} */ ({ 'X-Window-Token': meta('window-token') });
  if (body) Object.assign(headers, { 'Content-Type': 'application/json', 'Idempotency-Key': crypto.randomUUID() });
  const answer = await fetch(path, { method: body ? 'POST' : 'GET', headers, body: body && JSON.stringify(body) });
  /** @type {{success: true, data: Data} | {success: false, message: string}} */
  const reply = await answer.json();
  if (!reply.success) throw new Error(reply.message);
  return { status: answer.status, data: reply.data };
}

/**
 * @param {string} news
 * @param {string} [detail]
 */
const tell = (news, detail = '') =>
  page?.postMessage({ type: 'bascule:news', news, detail }, origin && origin !== 'null' ? origin : '*');

async function launch() {
  say('Opening a terminal');
  let opened = await asked('/window/launch', { ...request, origin });
  while (opened.status === 202) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    opened = await asked(`/window/launch/${encodeURIComponent(opened.data.id)}`, null);
  }
  say(`Opened in ${opened.data.terminal}. You can close this window.`);
  tell('launched', opened.data.terminal);
  request = null; // one launch for each time that a page asks
  if (page) setTimeout(() => close(), CLOSE_MS);
}

async function startSession() {
  const { data } = await asked('/window/session', { ...request, origin });
  tell('session');
  location.assign(data.url);
}

async function copy() {
  await navigator.clipboard.writeText(request?.prompt ?? '');
  say('Copied.');
  tell('copied');
}

async function trust() {
  await asked('/window/trust', { origin });
  at('trust').hidden = true;
  say(`${origin} may now launch without this window. Revoke it in Bascule’s settings, under Trusted browsers.`);
  tell('trusted');
}

const ACTIONS = [launch, startSession, copy, trust];
BUTTONS.forEach((button, place) =>
  button.addEventListener('click', async (event) => {
    if (!event.isTrusted || !request || isBusy || button.disabled) return;
    isBusy = true;
    arm();
    try {
      await ACTIONS[place]();
    } catch (error) {
      say(/** @type {Error} */ (error).message, true);
    } finally {
      isBusy = false;
      arm();
    }
  }),
);

const looking = setInterval(() => {
  if (page?.closed) askForPaste('The page was closed before it handed over its prompt. Paste it here, or close this.');
}, LOOK_MS);
addEventListener('focus', arm);
document.addEventListener('visibilitychange', arm);
if (page) {
  addEventListener('message', take);
  // The page that opened this window learns only that it is open.
  page.postMessage({ type: 'bascule:ready', version: '1.0' }, '*');
} else {
  const found = requestInFragment(location.hash);
  history.replaceState(null, '', location.pathname);
  if (found) show(found, '');
  else askForPaste(PASTE);
}
