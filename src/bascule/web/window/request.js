/** What a page may hand over to the launch window, read with care. Pure. */

/**
 * @typedef {object} PromptRequest `repo` is `owner/name`, where a page knows no folder
 * @property {string} prompt
 * @property {string} [mode]
 * @property {string} [agent]
 * @property {string} [workingDirectory]
 * @property {string} [repo]
 */

export const MODES = /** @type {Record<string, string>} */ ({
  plan: 'Plan: it reads and plans, and changes nothing',
  normal: 'Normal: it asks before it acts',
  prefill: 'Typed, not sent: you press Enter',
});
const MAX_WORDS = 4096; // characters of a folder or a name
const SHOWN = 2000; // characters of a long prompt, before it is opened

/**
 * A request of known fields, all of them texts, or what is wrong with it.
 * @param {unknown} said
 * @returns {{ request: PromptRequest | null, problem: string }}
 */
export function requestFrom(said) {
  const refused = (/** @type {string} */ problem) => ({ request: null, problem });
  if (typeof said !== 'object' || said === null) return refused('The page sent no request.');
  const { prompt, mode, agent, workingDirectory, repo } = /** @type {Record<string, unknown>} */ (said);
  if (typeof prompt !== 'string' || !prompt) return refused('The page sent no prompt.');
  if (mode !== undefined && !(typeof mode === 'string' && Object.hasOwn(MODES, mode)))
    return refused('The page asks for a mode that does not exist.');
  for (const one of [agent, workingDirectory, repo])
    if (one !== undefined && !(typeof one === 'string' && one.length <= MAX_WORDS))
      return refused('The page asks for a folder, a repository or an agent that is not text.');
  if (workingDirectory !== undefined && repo !== undefined)
    return refused('The page asks for a folder and for a repository; it can name one of them.');
  const fields = { prompt, mode, agent, workingDirectory, repo };
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return { request: /** @type {PromptRequest} */ (Object.fromEntries(given)), problem: '' };
}

/**
 * The request in an address, where a page's own policy keeps it from sending a message.
 * @param {string} hash
 */
export function requestInFragment(hash) {
  const found = /^#request=([A-Za-z0-9_-]+)$/.exec(hash);
  if (!found) return null;
  try {
    const letters = atob(found[1].replaceAll('-', '+').replaceAll('_', '/'));
    const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
    return requestFrom(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)));
  } catch {
    return { request: null, problem: 'The address of this window does not contain a request.' };
  }
}

/**
 * Whether a site can be trusted for good: one that comes over https, or from this machine.
 * @param {string} origin
 */
export function isTrustable(origin) {
  const found = /^(https?):\/\/(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(:\d+)?$/.exec(origin);
  if (!found) return false;
  return found[1] === 'https' || /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(found[2]);
}

/**
 * The first part of a long prompt; all of a short one. Never half a character.
 * @param {string} prompt
 */
export function beginningOf(prompt) {
  if (prompt.length <= SHOWN + SHOWN / 2) return prompt;
  const last = prompt.charCodeAt(SHOWN - 1);
  return prompt.slice(0, last >= 0xd800 && last < 0xdc00 ? SHOWN - 1 : SHOWN);
}
