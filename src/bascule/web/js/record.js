/**
 * What follows from events for a session as a whole: phase, queue, title and end. Pure; the twin of
 * `model/session_fold.py` and `model/lifecycle.py`, held to the same fixtures (`tests/fixtures/fold`).
 */

import { titleFrom } from './titles.js';

/** @typedef {import('./types.d.ts').PromptQueued} PromptQueued */
/** @typedef {import('./types.d.ts').Event} Event */
/** @typedef {import('./types.d.ts').SessionRecord['phase']} Phase */

/** @type {Record<Phase, Partial<Record<Event['type'], Phase>>>} */
const NEXT = {
  starting: {
    session_ready: 'waiting',
    prompt_sent: 'running',
    session_failed: 'failed',
    session_ending: 'ending',
    session_ended: 'ended',
  },
  running: {
    turn_ended: 'waiting',
    interrupted: 'interrupted',
    session_ending: 'ending',
    session_ended: 'ended',
    session_failed: 'failed',
  },
  waiting: { prompt_sent: 'running', session_ending: 'ending', session_ended: 'ended', session_failed: 'failed' },
  interrupted: {
    turn_ended: 'waiting',
    prompt_sent: 'running',
    session_ending: 'ending',
    session_ended: 'ended',
    session_failed: 'failed',
  },
  ending: { session_ended: 'ended', session_failed: 'ended' },
  ended: { session_started: 'starting', session_failed: 'failed' },
  failed: { session_started: 'starting' },
};

/**
 * @param {Phase} phase
 * @param {Event['type']} type of the event
 */
export function step(phase, type) {
  return (Object.hasOwn(NEXT, phase) && Object.hasOwn(NEXT[phase], type) && NEXT[phase][type]) || phase;
}

/**
 * The prompts that wait, after one more event.
 * @param {PromptQueued[]} queue
 * @param {Event} event
 * @returns {PromptQueued[]} the same array when nothing changed
 */
export function queueAfter(queue, event) {
  switch (event.type) {
    case 'prompt_queued':
      return [...queue, event];
    case 'prompt_sent':
    case 'prompt_withdrawn': {
      const rest = queue.filter((prompt) => prompt.prompt_id !== event.prompt_id);
      return rest.length === queue.length ? queue : rest;
    }
    case 'prompt_edited':
      return queue.map((prompt) => (prompt.prompt_id === event.prompt_id ? { ...prompt, text: event.text } : prompt));
    case 'queue_held':
      return queue.map((prompt) => ({ ...prompt, held: true }));
    case 'queue_released':
      return queue.map((prompt) =>
        !event.prompt_ids?.length || event.prompt_ids.includes(prompt.prompt_id) ? released(prompt) : prompt,
      );
    case 'prompts_reordered': {
      /** @param {PromptQueued} prompt */
      const place = (prompt) => {
        const at = event.order.indexOf(prompt.prompt_id);
        return at < 0 ? event.order.length : at;
      };
      return queue
        .map((prompt, n) => ({ one: prompt, n }))
        .sort((a, b) => place(a.one) - place(b.one) || a.n - b.n)
        .map(({ one }) => one);
    }
    default:
      return queue;
  }
}

/** @param {PromptQueued} prompt */
function released(prompt) {
  const free = { ...prompt };
  delete free.held;
  return free;
}

/**
 * How a session ended or is going to, and which try to have a lost agent back comes next: what one more event
 * changes of that.
 * @param {Event} event
 * @returns {{end_reason?: string | null, end_message?: string | null, attempt?: number, attempts?: number,
 *   ends_at?: string | null, ends_for?: string | null}}
 */
export function endAfter(event) {
  const none = { attempt: 0, attempts: 0 };
  switch (event.type) {
    case 'session_started':
      return { end_reason: null, end_message: null, ends_at: null, ends_for: null };
    case 'session_ready':
      return none;
    case 'reconnect_scheduled':
      return { attempt: event.attempt, attempts: event.attempts };
    case 'end_scheduled':
      return { ends_at: event.at, ends_for: event.reason };
    case 'end_cancelled':
    case 'session_ending':
      return { ends_at: null, ends_for: null };
    case 'session_ended':
    case 'session_failed':
      return {
        ends_at: null,
        ends_for: null,
        end_reason: event.reason,
        end_message: event.message ?? null,
        ...(event.reason === 'disconnected' ? {} : none),
      };
    default:
      return {};
  }
}

/**
 * The title after one more event: an agent's idea of one counts until a person chose it.
 * @param {{title: string, titled: boolean}} session
 * @param {Event} event
 * @returns {{title?: string, titled?: boolean}}
 */
export function titleAfter(session, event) {
  if (event.type === 'prompt_sent' && !session.title) return { title: titleFrom(event.text) };
  if (event.type !== 'title_changed' || (session.titled && !event.by)) return {};
  return { title: event.title, titled: Boolean(event.by) };
}
