/** `<bascule-launch>`: a button for any web page that opens a terminal with an agent and the page's prompt. */

import { copyText, noWindowDialog, offlineDialog } from './dialog.js';
import { iconOf, made, stylesOfElement } from './look.js';
import { promptFrom } from './prompt.js';
import { Unreachable, accessOf, launchBy, loopbackPermission, probe } from './reach.js';
import { openLaunchWindow } from './launch_window.js';
import {
  BLOCKED,
  BRIDGE,
  BROKEN_OFF,
  DISMISSED,
  NO_WINDOW,
  OFFLINE,
  REFUSED,
  SUCCESS_MS,
  TOASTS,
  TOAST_MS,
  WINDOW_UNSEEN,
  mismatchOf,
  readyTitle,
} from './words.js';

/** @typedef {'ready' | 'launching' | 'success' | 'error' | 'offline'} ButtonState */
/** @typedef {'' | 'prompt' | 'insecure' | 'untrusted' | 'blocked'} Reason why a click is not a plain launch */

const PATIENCE_MS = 500;

export class BasculeLaunch extends HTMLElement {
  static observedAttributes = ['disabled', 'agent', 'bridge'];

  /** @type {import('./prompt.js').Editor | null} a Quill editor, whose document is the prompt */
  quill = null;
  /** @type {unknown} a Delta, which is the prompt */
  delta = null;

  #button = made('button', { type: 'button', class: 'launch', part: 'button' });
  #toast = made('div', { class: 'toast', role: 'status', 'aria-live': 'polite', part: 'toast' });
  #root = this.attachShadow({ mode: 'open' });
  /** @type {ButtonState} */
  #state = 'ready';
  /** @type {Reason} */
  #reason = '';
  #message = ''; // the last error, or that versions differ
  #timer = 0;
  #clicks = 0; // a look that began before the last one is out of date
  #stopListening = () => {};
  #look = () => void this.refresh();

  connectedCallback() {
    this.#root.adoptedStyleSheets = [stylesOfElement()];
    this.#button.onclick = () => void this.launch();
    this.#root.replaceChildren(this.#button, this.#toast);
    this.#show('ready');
    document.addEventListener('visibilitychange', this.#look);
    void loopbackPermission().then((permission) => permission?.addEventListener('change', this.#look));
    void this.refresh();
  }

  disconnectedCallback() {
    document.removeEventListener('visibilitychange', this.#look);
    this.#stopListening();
    clearTimeout(this.#timer);
  }

  attributeChangedCallback() {
    if (this.isConnected) void this.refresh();
  }

  get bridge() {
    return (this.getAttribute('bridge') ?? BRIDGE).replace(/\/+$/, '');
  }

  get state() {
    return this.#state;
  }

  /** Look whether a launch is possible. A page that nobody sees, or whose visitor would be asked, looks at nothing. */
  async refresh() {
    if (document.hidden || this.#state === 'launching' || this.#state === 'success') return;
    const clicks = this.#clicks;
    const access = await accessOf();
    if (clicks !== this.#clicks) return;
    if (access === 'denied') this.#show('offline', 'blocked');
    else if (access === 'prompt' || access === 'insecure') this.#show('ready', access);
    else await this.#probe();
  }

  async #probe() {
    const clicks = this.#clicks;
    const { reached, version } = await probe(this.bridge, Number(this.getAttribute('patience')) || PATIENCE_MS);
    this.#compare(version);
    if (this.#state === 'launching' || clicks !== this.#clicks) return reached;
    if (reached === 'nobody') this.#show('offline', '');
    else this.#show('ready', reached === 'untrusted' ? 'untrusted' : '');
    return reached;
  }

  /** What a click does. A second one is ignored until the first has ended. */
  async launch() {
    if (this.#state === 'launching' || this.hasAttribute('disabled')) return;
    this.#clicks += 1;
    const { fields, problem } = this.#fields();
    if (problem || !fields.prompt) return this.#fail('prompt_required', problem || TOASTS.prompt_required);
    if (['insecure', 'blocked', 'untrusted'].includes(this.#reason)) return this.#byWindow(fields);
    const wasOffline = this.#state === 'offline';
    this.#show('launching');
    const reached = wasOffline ? await this.#probe() : 'trusted';
    if (reached === 'nobody') return this.#offline(fields);
    if (reached === 'untrusted') return this.#byWindow(fields);
    try {
      const answer = await launchBy(this.bridge, fields);
      this.#compare(answer.version);
      if (answer.ok) this.#succeed(`Opened in ${answer.terminal}`, answer.terminal);
      else this.#fail(answer.error, answer.message);
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      await this.#unreached(fields);
    }
  }

  #fields() {
    /** @type {import('./reach.js').LaunchFields} */
    const fields = { prompt: '' };
    const { mode, agent, directory, repo } = this.#attributes('mode', 'agent', 'directory', 'repo');
    if (mode) fields.mode = mode;
    if (agent) fields.agent = agent;
    if (directory) fields.workingDirectory = directory;
    if (repo) fields.repo = repo;
    try {
      const { prompt, for: selector, delta, format } = this.#attributes('prompt', 'for', 'delta', 'format');
      const source = { text: prompt, selector, quill: this.quill, delta: this.delta ?? delta, format };
      fields.prompt = promptFrom(source);
      return { fields, problem: '' };
    } catch (error) {
      return { fields, problem: /** @type {Error} */ (error).message };
    }
  }

  /**
   * @param {...string} names
   * @returns {Record<string, string | null>}
   */
  #attributes(...names) {
    return Object.fromEntries(names.map((name) => [name, this.getAttribute(name)]));
  }

  /**
   * The browser says only that nothing came back: refused by it, by the bridge, or nobody there.
   * @param {import('./reach.js').LaunchFields} fields
   */
  async #unreached(fields) {
    const access = await accessOf();
    if (access === 'denied') {
      this.#reason = 'blocked';
      return this.#fail('blocked', REFUSED);
    }
    if (access === 'prompt' && (await loopbackPermission())) {
      this.#reason = 'prompt';
      return this.#fail('dismissed', DISMISSED);
    }
    const reached = await this.#probe();
    if (reached === 'nobody') this.#offline(fields);
    else if (reached === 'untrusted') this.#byWindow(fields);
    else this.#fail('network', BROKEN_OFF);
  }

  /** @param {import('./reach.js').LaunchFields} fields */
  #byWindow(fields) {
    this.#show('launching');
    this.#stopListening();
    const byFragment = this.getAttribute('handover') === 'fragment' || globalThis.crossOriginIsolated === true;
    this.#stopListening = openLaunchWindow(this.bridge, fields, byFragment, (news, detail) => {
      if (news === 'launched') this.#succeed(`Opened in ${detail}`, detail);
      else if (news === 'silent') this.#offline(fields);
      else if (news === 'not_opened') this.#noWindow(fields);
      else if (news === 'unseen') {
        this.#show('ready');
        this.#say(WINDOW_UNSEEN, '');
      } else if (news === 'closed' && this.#state === 'launching') {
        this.#show('ready');
        void this.refresh(); // the site may be trusted now
      }
    });
  }

  /** @param {import('./reach.js').LaunchFields} fields */
  #offline(fields) {
    this.#show('offline', '');
    this.#say(OFFLINE.replace(' - click for instructions', ''), 'error');
    this.#help(offlineDialog, fields);
  }

  /**
   * A pop-up blocker, or a frame that may open none: the bridge may be well.
   * @param {import('./reach.js').LaunchFields} fields
   */
  #noWindow(fields) {
    this.#fail('not_opened', NO_WINDOW);
    this.#help(noWindowDialog, fields);
  }

  /**
   * @param {typeof offlineDialog} dialogOf
   * @param {import('./reach.js').LaunchFields} fields
   */
  #help(dialogOf, fields) {
    const dialog = dialogOf(fields.prompt, {
      again: () => void this.launch(),
      window: () => this.#byWindow(fields),
      copy: () =>
        void copyText(fields.prompt, dialog).then(
          () => this.#say('Copied', ''),
          (error) => this.#say(error.message, 'error'),
        ),
    });
    dialog.addEventListener('close', this.#look);
    this.#root.append(dialog);
    dialog.showModal();
  }

  /**
   * @param {string} words
   * @param {string} terminal
   */
  #succeed(words, terminal) {
    this.#show('success');
    this.#say(words, '');
    this.dispatchEvent(new CustomEvent('bascule-launched', { bubbles: true, detail: { terminal } }));
    setTimeout(() => {
      if (this.#state === 'success') this.#show('ready');
    }, SUCCESS_MS);
  }

  /**
   * @param {string} error
   * @param {string} message
   */
  #fail(error, message) {
    this.#message = message;
    this.#show('error');
    this.#say(TOASTS[error] ?? message, 'error');
    this.dispatchEvent(new CustomEvent('bascule-launch-failed', { bubbles: true, detail: { error, message } }));
  }

  /** @param {string | null} version */
  #compare(version) {
    const mismatch = mismatchOf(version);
    if (!mismatch || this.#message === mismatch) return;
    this.#message = mismatch;
    console.warn(mismatch);
    this.#say(mismatch, 'error');
  }

  /**
   * @param {string} words
   * @param {string} tone
   */
  #say(words, tone) {
    this.#toast.dataset.tone = tone;
    this.#toast.textContent = words;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => (this.#toast.textContent = ''), TOAST_MS);
  }

  /**
   * @param {ButtonState} state
   * @param {Reason} [reason] unless it stays
   */
  #show(state, reason = this.#reason) {
    this.#state = state;
    this.#reason = reason;
    const title = this.#title();
    const button = this.#button;
    button.dataset.state = state;
    button.title = title;
    button.setAttribute('aria-label', title);
    button.setAttribute('aria-busy', String(state === 'launching'));
    button.setAttribute('aria-disabled', String(state === 'launching'));
    button.disabled = this.hasAttribute('disabled');
    button.replaceChildren(iconOf(state), made('slot', {}));
    this.setAttribute('data-state', state);
  }

  #title() {
    const ready = readyTitle(this.getAttribute('agent') ?? '', this.#reason);
    if (this.#state === 'offline') return this.#reason === 'blocked' ? BLOCKED : OFFLINE;
    if (this.#state === 'launching') return 'Launching';
    return this.#state === 'error' ? this.#message : ready;
  }
}

if (!customElements.get('bascule-launch')) customElements.define('bascule-launch', BasculeLaunch);
