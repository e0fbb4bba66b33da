/**
 * The secrets with which this browser signs starts, one for each machine that trusts it. They are kept as keys that
 * no script can read, and go to no server.
 */

import { importKey, keyId, sign, tidyCode } from '../../js/start_signing.js';

/** @typedef {{device: string, key: string, secret: CryptoKey}} TrustedKey */

const DATABASE = 'bascule.trusted';
const STORE = 'keys';

/** @returns {Promise<IDBDatabase>} */
const opened = () =>
  new Promise((done, fail) => {
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE, { keyPath: 'device' });
    request.onsuccess = () => done(request.result);
    request.onerror = () => fail(request.error);
  });

/**
 * @template T
 * @param {IDBTransactionMode} mode
 * @param {(store: IDBObjectStore) => IDBRequest<T>} work
 * @returns {Promise<T>}
 */
async function inStore(mode, work) {
  const database = await opened();
  try {
    return await new Promise((done, fail) => {
      const request = work(database.transaction(STORE, mode).objectStore(STORE));
      request.onsuccess = () => done(request.result);
      request.onerror = () => fail(request.error);
    });
  } finally {
    database.close();
  }
}

/** Why this page can't sign at all; empty when it can. */
export const signingProblem = () =>
  crypto.subtle ? '' : 'A browser signs only on pages with https, or on the machine itself.';

/** @returns {Promise<string[]>} the machines that trust this browser, as far as it knows */
export async function trustedDevices() {
  if (signingProblem()) return [];
  return /** @type {string[]} */ (await inStore('readonly', (store) => store.getAllKeys()));
}

/**
 * @param {string} device
 * @param {string} typed
 */
export async function keepKey(device, typed) {
  const code = tidyCode(typed);
  if (signingProblem()) throw new Error(signingProblem());
  if (!code) throw new Error('That is not a code. It has 26 letters and digits, as the machine showed it.');
  const kept = { device, key: await keyId(code), secret: await importKey(code) };
  await inStore('readwrite', (store) => store.put(kept));
}

/** @param {string} device */
export const dropKey = (device) => inStore('readwrite', (store) => store.delete(device));

/** Everything of this, with the key that opens the page. */
export const dropAllKeys = () =>
  new Promise((done) => {
    const request = indexedDB.deleteDatabase(DATABASE);
    request.onsuccess = request.onerror = request.onblocked = () => done(undefined);
  });

/**
 * The body with this browser's signature, where its machine trusts this browser.
 * @template {import('../../js/start_signing.js').SignedBody} B
 * @param {string | undefined} device
 * @param {B} body
 * @returns {Promise<B>}
 */
export async function withSignature(device, body) {
  if (!device || signingProblem()) return body;
  const kept = /** @type {TrustedKey | undefined} */ (await inStore('readonly', (store) => store.get(device)));
  if (!kept) return body;
  const stamp = { key: kept.key, at: Date.now(), nonce: crypto.randomUUID() };
  return { ...body, signature: await sign(kept.secret, device, body, stamp) };
}
