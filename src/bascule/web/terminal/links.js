/** Links in a terminal: http and https alone, shown under the pointer, opened by the shell after it has asked. */

const MAX_LINK = 8192; // a longer one is a trick, not an address

/**
 * @param {string} text
 * @returns {string | null} the address as a browser would go there, or nothing
 */
export function safeTarget(text) {
  if (text.length > MAX_LINK) return null;
  try {
    const url = new URL(text);
    return url.protocol === 'http:' || url.protocol === 'https:' ? url.href : null;
  } catch {
    return null;
  }
}

/**
 * @param {HTMLElement} target where the address under the pointer is shown
 * @param {(href: string) => void} open
 */
export function linkWays(target, open) {
  /** @param {string} text */
  const show = (text) => {
    const href = safeTarget(text);
    target.hidden = !href;
    target.textContent = href ?? '';
  };
  const hide = () => {
    target.hidden = true;
  };
  /** @param {string} text */
  const go = (text) => {
    const href = safeTarget(text);
    if (href) open(href);
  };
  return {
    /** A link the program named itself (OSC 8): its text and its target may differ. */
    named: {
      activate: (/** @type {Event} */ _, /** @type {string} */ text) => go(text),
      hover: (/** @type {Event} */ _, /** @type {string} */ text) => show(text),
      leave: hide,
      allowNonHttpProtocols: false,
    },
    /** An address found in the text. */
    found: {
      activate: (/** @type {Event} */ _, /** @type {string} */ text) => go(text),
      hover: (/** @type {Event} */ _, /** @type {string} */ text) => show(text),
      leave: hide,
    },
  };
}
