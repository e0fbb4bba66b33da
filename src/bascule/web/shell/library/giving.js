/** What becomes of a prompt's finished text: a terminal, a session, several agents; and the note of where it went. */

import { newKey } from '../../js/api.js';

/** @typedef {import('../app.js').App} App */
/**
 * A version of a prompt; null for a text that is in no library.
 * @typedef {{promptId: string, version: number} | null} Origin
 */
/** @typedef {import('../../js/types.d.ts').PromptUsed['kind']} UseKind */
/** @typedef {{agents: string[], cwd: string, device?: string}} Where */

/**
 * Best effort: the prompt has reached its agent, and that is what counts.
 * @param {App} app
 * @param {Origin} origin
 * @param {UseKind} kind
 * @param {string[]} sessions
 */
export function noteUse(app, origin, kind, sessions = []) {
  if (origin) app.feed.call('prompts:used', { ...origin, kind, sessions }).catch(() => undefined);
}

/**
 * @param {App} app
 * @param {string} prompt
 * @param {Where} where
 * @param {Origin} origin
 */
export async function startSession(app, prompt, { agents, cwd, device }, origin) {
  const made = await app.api.create({
    agent: agents[0],
    prompt,
    ...(cwd ? { cwd } : {}),
    ...(device ? { device } : {}),
    key: newKey(),
  });
  noteUse(app, origin, 'session', [made.sessionId]);
  app.go({ name: 'session', id: made.sessionId });
}

/**
 * @param {App} app
 * @param {string} prompt
 * @param {Where} where
 * @param {Origin} origin
 */
export async function giveToSeveral(app, prompt, { agents, cwd, device }, origin) {
  const made = await app.feed.call('compare:start', {
    prompt,
    agents: agents.map((agent) => ({ agent })),
    ...(cwd ? { cwd } : {}),
    ...(device ? { device } : {}),
    key: newKey(),
  });
  noteUse(
    app,
    origin,
    'comparison',
    made.contestants.map((contestant) => contestant.sessionId),
  );
  app.go({ name: 'compare', id: made.id });
}

/**
 * @typedef {object} LaunchAnswer
 * @property {boolean} [success]
 * @property {{terminal: string, launched: boolean}} [data]
 * @property {string} [message]
 * @property {string | {message?: string}} [error]
 */

/**
 * The bridge answers in its own shape, by HTTP alone.
 * @param {App} app
 * @param {string} prompt
 * @param {Where} where
 * @param {Origin} origin
 * @returns {Promise<string>} what happened, in words
 */
export async function launchInTerminal(app, prompt, { agents, cwd }, origin) {
  const answer = await fetch('/launch', {
    method: 'POST',
    headers: {
      authorization: `Bearer ${app.feed.key() ?? ''}`,
      'content-type': 'application/json',
      'idempotency-key': newKey(),
    },
    body: JSON.stringify({ prompt, agent: agents[0], ...(cwd ? { workingDirectory: cwd } : {}) }),
    credentials: 'omit',
    cache: 'no-store',
  });
  /** @type {LaunchAnswer} */
  const body = await answer.json().catch(() => ({})); // a broken answer has no words of its own
  if (!body.success || !body.data) {
    const words = typeof body.error === 'object' ? body.error.message : undefined; // of the server, not the bridge
    throw new Error(body.message ?? words ?? 'The terminal could not be opened.');
  }
  noteUse(app, origin, 'terminal');
  const { terminal, launched } = body.data;
  return launched ? `It runs in ${terminal}.` : `${terminal} was started; it has not reported back yet.`;
}
