/**
 * What a person typed into requests: the words of an answer, the reason of a denial. It outlasts a reload and stays
 * until the request is settled. Words that the agent did not get by then go into the session's message.
 */

import { fieldsOf } from '../../js/json.js';
import { mayAct } from '../state.js';
import { draftNames, draftOf, keepDraft } from '../storage.js';

/** @typedef {import('../state.js').State} State */
/** @typedef {import('../state.js').OpenRequest} OpenRequest */
/** @typedef {import('./question.js').Draft} Draft */
/**
 * `asking`: the field for the reason is open; `sent`: the server took the answer.
 * @typedef {{reason: string, asking: boolean, draft: Draft, sent: boolean}} Typed
 */

const NAME = 'request ';
/** @type {Typed} */
const NOTHING = { reason: '', asking: false, draft: new Map(), sent: false };

/**
 * What this browser kept, which may be from another version or from nobody.
 * @param {string} kept
 * @returns {Typed}
 */
export function readTyped(kept) {
  try {
    const { reason, asking, draft, sent } = fieldsOf(JSON.parse(kept));
    const answers = Array.isArray(draft) ? draft.map(readAnswer) : [];
    return {
      reason: typeof reason === 'string' ? reason : '',
      asking: asking === true,
      draft: new Map(answers),
      sent: sent === true,
    };
  } catch {
    return NOTHING;
  }
}

/**
 * @param {unknown} kept
 * @returns {[string, import('./question.js').Given]}
 */
function readAnswer(kept) {
  const [question, given] = Array.isArray(kept) ? kept : [];
  const { picked, free } = fieldsOf(given);
  const labels = Array.isArray(picked) ? picked.filter((one) => typeof one === 'string') : [];
  return [String(question), { picked: labels, free: typeof free === 'string' ? free : '' }];
}

/**
 * The words among it that the agent did not get, whoever answered.
 * @param {Typed} typed
 * @param {OpenRequest} [request] as it was settled, where the page still knows it
 */
export function undelivered(typed, request) {
  const words = [typed.reason, ...[...typed.draft.values()].map((given) => given.free)];
  const answered = request?.state === 'withdrawn' ? '' : JSON.stringify(request?.answer ?? '');
  const arrived = (/** @type {string} */ one) => answered.includes(JSON.stringify(one).slice(1, -1));
  if (typed.sent && request?.state !== 'withdrawn') return '';
  return words
    .map((word) => word.trim())
    .filter((one) => one && !arrived(one))
    .join('\n\n');
}

export class TypedWords {
  /** @param {import('../app.js').App} app */
  constructor(app) {
    this.app = app;
    /** @type {Map<string, Typed>} */
    this.all = new Map(draftNames(NAME).map((name) => [name.slice(NAME.length), readTyped(draftOf(name))]));
  }

  /** @param {string} key of a request */
  of(key) {
    return this.all.get(key) ?? NOTHING;
  }

  /**
   * @param {string} key
   * @param {Partial<Typed>} patch
   */
  keep(key, patch) {
    const typed = { ...this.of(key), sent: false, ...patch };
    this.all.set(key, typed);
    try {
      keepDraft(NAME + key, JSON.stringify({ ...typed, draft: [...typed.draft] }));
    } catch {
      // The browser has no room for it: it is kept as long as the page is.
    }
  }

  /** @param {string} key of a request whose answer the server took */
  sent(key) {
    if (this.all.has(key)) this.keep(key, { sent: true });
  }

  /**
   * Lets go of what was typed into requests that are open no more.
   * @param {State} state
   * @param {(key: string) => boolean} onItsWay whether an answer is sent just now: what becomes of it is not known yet
   */
  settle(state, onItsWay) {
    if (!state.loaded) return;
    for (const [key, typed] of this.all) {
      const request = state.requests[key];
      const id = key.slice(0, key.indexOf('/'));
      const over = request?.state !== 'open' && state.sessions[id] && mayAct(state, id);
      if (over && (typed.sent || !onItsWay(key))) this.#letGo(id, key, typed, request);
    }
  }

  /**
   * @param {string} id
   * @param {string} key
   * @param {Typed} typed
   * @param {OpenRequest | undefined} request
   */
  #letGo(id, key, typed, request) {
    const here = draftNames(NAME).includes(NAME + key); // or another tab of this browser has done it
    this.all.delete(key);
    keepDraft(NAME + key, '');
    const words = undelivered(typed, request);
    if (!words || !here) return;
    keepDraft(id, [draftOf(id), words].filter(Boolean).join('\n\n'));
    this.app.events.emit('givenBack', { id, images: [] });
  }
}
