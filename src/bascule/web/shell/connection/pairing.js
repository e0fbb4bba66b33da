/** Redeems a one-time link: its secret becomes a key of this browser's own, or words on why it opens nothing. */

import { secret } from '../storage.js';
import { browserName } from './browser_name.js';

/** @typedef {import('../app.js').App} App */
/** @typedef {import('../../js/types.d.ts').HttpOperations['POST /api/links/redeem']['answer']} Redeemed */

const PAUSES = [1000, 2000, 4000, 8000]; // milliseconds between tries while the server does not answer

/**
 * @param {string} link the secret of the link
 * @returns {Promise<{token: string} | {code: string}>}
 */
async function redeem(link) {
  const body = JSON.stringify({ secret: link, name: browserName(navigator.userAgent) });
  const headers = { 'content-type': 'application/json' };
  for (let attempt = 0; ; attempt += 1) {
    try {
      const answer = await fetch('/api/links/redeem', { method: 'POST', headers, body, cache: 'no-store' });
      /** @type {Redeemed | {error?: import('../../js/types.d.ts').Fault}} */
      const reply = await answer.json();
      if ('token' in reply) return { token: reply.token };
      return { code: reply.error?.code ?? 'LINK_NOT_FOUND' };
    } catch {
      if (attempt >= PAUSES.length) return { code: 'OFFLINE' }; // no server, or something else that answers
      await new Promise((done) => setTimeout(done, PAUSES[attempt]));
    }
  }
}

/**
 * Enter by a one-time link. One that opens nothing must not lock out a browser that was in.
 * @param {App} app
 * @param {string} link
 */
export async function enterByLink(app, link) {
  const got = await redeem(link);
  if ('token' in got) {
    secret.set(got.token);
    await app.feed.connect();
  } else if (secret.get()) {
    app.note('That link no longer works. You are still signed in as before.', { tone: 'bad', stay: true });
    await app.feed.connect();
  } else await app.feed.askWhy({ pair: got.code });
}
