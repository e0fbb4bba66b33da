/**
 * Signs a start for a machine that trusts this browser. The text that is signed is the machine's own
 * (policy/start_signing.py); both are held to tests/fixtures/start_signatures.json.
 */

const PURPOSE = 'bascule start 1';
const CODE = /^[0-9A-HJKMNP-TV-Z]{26}$/;
// Of a start: what stands beside it on the way, decides nothing, or is signed in another form.
const UNSIGNED = new Set(['key', 'device', 'signature', 'clientMessageId', 'copiedFrom', 'prompt', 'images']);

const bytes = (/** @type {string} */ text) => new TextEncoder().encode(text);
const hex = (/** @type {ArrayBuffer} */ data) =>
  [...new Uint8Array(data)].map((one) => one.toString(16).padStart(2, '0')).join('');
const digest = async (/** @type {string} */ text) =>
  text ? hex(await crypto.subtle.digest('SHA-256', bytes(text))) : '';

/**
 * A code as people type it: in any case, with dashes or spaces.
 * @param {string} typed
 * @returns {string} empty when it is none
 */
export function tidyCode(typed) {
  const code = typed.toUpperCase().replace(/[\s-]/g, '').replace(/[IL]/g, '1').replace(/O/g, '0');
  return CODE.test(code) ? code : '';
}

/** @param {string} code */
export const keyId = async (code) => (await digest(`bascule trust id ${code}`)).slice(0, 16);

/**
 * A key that signs and that no script can read again.
 * @param {string} code
 */
export const importKey = (code) =>
  crypto.subtle.importKey('raw', bytes(code), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);

/**
 * @typedef {import('./types.d.ts').Operations} Operations
 * @typedef {Partial<Operations['session:create']['body'] & Operations['session:resume']['body']>} SignedBody
 */

/** @param {unknown} value */
const plain = (value) => (value === null || value === undefined || value === false ? '' : String(value));

/**
 * @param {string} device
 * @param {SignedBody} body of the start, or of bringing a session back
 * @param {{key: string, at: number, nonce: string}} stamp
 */
export async function signedText(device, body, stamp) {
  const starts = !('sessionId' in body);
  const pictures = (body.images ?? []).map((image) => `${image.mediaType} ${image.data}\n`).join('');
  /** @type {Record<string, string>} */
  const fields = { device, key: stamp.key, at: String(stamp.at), nonce: stamp.nonce };
  for (const [name, value] of Object.entries(body)) if (!UNSIGNED.has(name)) fields[name] = plain(value);
  if (starts) {
    fields.permissionMode ||= 'relay';
    fields.prompt = await digest(body.prompt ?? '');
    fields.images = await digest(pictures);
  }
  const net = (/** @type {string} */ text) => `${bytes(text).length}:${text},`;
  const pairs = Object.keys(fields)
    .filter((name) => fields[name])
    .sort((one, other) => (one < other ? -1 : 1))
    .map((name) => net(name) + net(fields[name]));
  return `${PURPOSE}\n${pairs.join('')}`;
}

/**
 * @param {CryptoKey} secret
 * @param {string} device
 * @param {SignedBody} body
 * @param {{key: string, at: number, nonce: string}} stamp
 * @returns {Promise<import('./types.js').StartSignature>}
 */
export async function sign(secret, device, body, stamp) {
  const mac = await crypto.subtle.sign('HMAC', secret, bytes(await signedText(device, body, stamp)));
  return { ...stamp, mac: hex(mac) };
}
