/** Sending the answer to a request, once, and not before a person can have seen it. */

import { newKey } from '../../js/api.js';
import { errorOf } from '../../js/json.js';
import { put } from '../../js/tables.js';
import { deviceName } from '../machines.js';
import { requestKey } from '../state.js';
import { loadAnswers } from './waiting.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../state.js').OpenRequest} OpenRequest */
/**
 * What a person answers with; a null is left out.
 * @typedef {{
 *   decision?: 'allow' | 'deny',
 *   option?: string | null,
 *   remember?: boolean,
 *   message?: string | null,
 *   answers?: Record<string, string>,
 * }} Given
 */

export const GUARD = 500; // milliseconds in which a request that just appeared is inert
const PATIENCE = 15_000; // milliseconds for the event that settles it

/**
 * @param {'permission' | 'question'} kind
 * @param {Given} command
 */
function answerWord(kind, command) {
  if (kind === 'question') return 'Sent';
  return command.decision === 'allow' ? 'Allowed' : 'Denied';
}

export class Answering {
  /**
   * @param {App} app
   * @param {() => void} changed
   * @param {(key: string) => void} taken the server took the answer to this request
   */
  constructor(app, changed, taken) {
    this.app = app;
    this.changed = changed;
    this.taken = taken;
    /** Since when each request has been in sight. @type {Map<string, number>} */
    this.since = new Map();
    /** What is said of those on their way. @type {Map<string, string>} */
    this.sending = new Map();
  }

  /** @param {string} key */
  appeared(key) {
    this.since.set(key, performance.now());
    setTimeout(this.changed, GUARD + 10);
  }

  /** @param {string} key */
  isInert(key) {
    return performance.now() - (this.since.get(key) ?? performance.now()) < GUARD;
  }

  /**
   * @param {OpenRequest} ask
   * @param {'permission' | 'question'} kind
   * @param {Given} command
   */
  answer(ask, kind, command) {
    const key = requestKey(ask);
    if (this.sending.has(key)) return;
    const allows = command.decision === 'allow' || kind === 'question';
    if (allows && this.isInert(key)) return;
    const { store } = this.app;
    const where = deviceName(store.get(), store.get().sessions[ask.session_id]);
    store.set(({ requests }) => ({
      requests: requests[key] ? put(requests, key, { ...requests[key], here: true }) : requests,
    }));
    this.sending.set(key, `${answerWord(kind, command)}. Waiting for ${where} to confirm.`);
    this.changed();
    void this.#send(ask, kind, command).finally(() => {
      this.sending.delete(key);
      this.changed();
    });
  }

  /**
   * Its machine is away: the card of the answer takes the place of the request's.
   * @param {string} message
   */
  async #keptWaiting(message) {
    const { store, api, note } = this.app;
    if (store.get().me?.sessionId) note(message);
    await loadAnswers(store, api, note);
  }

  /**
   * @param {OpenRequest} ask
   * @param {'permission' | 'question'} kind
   * @param {Given} command
   */
  async #send(ask, kind, command) {
    const fields = Object.fromEntries(Object.entries(command).filter(([, value]) => value !== null));
    const about = { requestId: ask.request_id, inputSha256: ask.input_sha256, key: newKey() };
    try {
      const { waits, message } = await (kind === 'question'
        ? this.app.api.question(ask.session_id, { ...about, ...fields })
        : this.app.api.permission(ask.session_id, { decision: 'deny', ...about, ...fields }));
      if (waits) return void (await this.#keptWaiting(message ?? ''));
      this.taken(requestKey(ask));
      this.changed();
      // The event settles it. Should none come, the request can be answered again after a while.
      await new Promise((resolve) => setTimeout(resolve, PATIENCE));
    } catch (error) {
      // Somebody was faster, or it was taken back: the event that says so is on its way.
      const { code } = errorOf(error);
      if (code !== 'ALREADY_ANSWERED' && code !== 'REQUEST_WITHDRAWN') this.app.trouble(/** @type {Error} */ (error));
    }
  }
}
