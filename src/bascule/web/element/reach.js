/** Reaching the bridge from a page: may the browser, does anybody answer, does it know this site. */

import { INVALID_ANSWER } from './words.js';

/** @typedef {'insecure' | 'open' | 'granted' | 'prompt' | 'denied'} Access */
/** @typedef {import('../window/request.js').PromptRequest} LaunchFields */
/** @typedef {{ ok: boolean, error: string, message: string, terminal: string, version: string | null }} Answer */

const POLL_MS = 300;

/** The bridge did not answer, or the browser did not let the page ask it. */
export class Unreachable extends Error {}

/**
 * Is this the name of the machine itself?
 * @param {string} host
 */
export const isLoopbackHost = (host) =>
  host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host);

const LOOPBACK = /** @type {PermissionName} */ (/** @type {string} */ ('loopback-network')); // newer than lib.dom

/** The browser's permission to reach this machine; null where it knows no such thing. */
export async function loopbackPermission() {
  try {
    return await navigator.permissions.query({ name: LOOPBACK });
  } catch {
    return null;
  }
}

/** @returns {Promise<Access>} */
export async function accessOf() {
  if (isLoopbackHost(location.hostname)) return 'open';
  if (!isSecureContext) return 'insecure';
  return (await loopbackPermission())?.state ?? 'prompt';
}

/**
 * @param {string} url
 * @param {RequestInit} options
 */
async function asked(url, options) {
  const common = /** @type {RequestInit} */ ({ credentials: 'omit', cache: 'no-store', ...options });
  let request;
  try {
    // The browser then asks the person, and lets an https page use plain http to this machine.
    request = new Request(url, /** @type {RequestInit} */ ({ ...common, targetAddressSpace: 'loopback' }));
  } catch {
    request = new Request(url, common); // an older browser that knows the option, but not the word
  }
  try {
    return await fetch(request);
  } catch (error) {
    throw new Unreachable(String(error));
  }
}

/**
 * Whether the bridge runs and knows this site. A site that it does not know may read no answer of its, but learns by a
 * file which anybody may load that somebody answers.
 * @param {string} bridge
 * @param {number} patience in ms
 * @returns {Promise<{ reached: 'trusted' | 'untrusted' | 'nobody', version: string | null }>}
 */
export async function probe(bridge, patience) {
  try {
    const answer = await asked(`${bridge}/health`, { signal: AbortSignal.timeout(patience) });
    if (answer.ok) return { reached: 'trusted', version: answer.headers.get('x-bridge-version') };
  } catch {
    // Asked again below, in the one way in which a refusal and silence differ.
  }
  try {
    await asked(`${bridge}/bascule-launch.js`, { mode: 'no-cors', signal: AbortSignal.timeout(patience) });
    return { reached: 'untrusted', version: null };
  } catch {
    return { reached: 'nobody', version: null };
  }
}

/**
 * One click. There is no time limit: the browser may be asking the person.
 * @param {string} bridge
 * @param {LaunchFields} fields
 * @returns {Promise<Answer>}
 */
export async function launchBy(bridge, fields) {
  const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': crypto.randomUUID() };
  let answer = await asked(`${bridge}/launch`, { method: 'POST', headers, body: JSON.stringify(fields) });
  while (answer.status === 202) {
    /** @type {{data: {id: string}}} */
    const { data } = await answer.json();
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    answer = await asked(`${bridge}/launch/${encodeURIComponent(data.id)}`, {});
  }
  return toldBy(answer);
}

/** @param {Response} answer */
async function toldBy(answer) {
  const version = answer.headers.get('x-bridge-version');
  /** @type {{success?: unknown, error?: unknown, message?: unknown, data?: {[field: string]: unknown}} | null} */
  const body = await answer.json().catch(() => null); // reported below as what it is: no answer of a bridge
  const ok = body?.success === true && body.data?.launched === true;
  if (ok) return { ok, error: '', message: '', terminal: String(body?.data?.terminal), version };
  const error = typeof body?.error === 'string' ? body.error : 'invalid_answer';
  const message = typeof body?.message === 'string' ? body.message : INVALID_ANSWER;
  return { ok, error, message, terminal: '', version };
}
