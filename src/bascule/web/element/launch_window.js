/** The launch window as a page sees it: opens it, hands the prompt over, and hears what became of it. */

/** @typedef {import('./reach.js').LaunchFields} LaunchFields */
/** @typedef {'launched' | 'session' | 'copied' | 'trusted'} NewsOfWindow what it says itself */
/** @typedef {NewsOfWindow | 'closed' | 'silent' | 'not_opened' | 'unseen'} WindowNews */

const MAX_FRAGMENT = 32_000; // characters of an address
const LOOK_MS = 400;
const READY_MS = 10_000;

/**
 * @param {string} bridge
 * @param {LaunchFields} fields
 * @param {boolean} byFragment where the page's own policy cuts the window off
 * @param {(news: WindowNews, detail: string) => void} tell
 * @returns {() => void} stop listening
 */
export function openLaunchWindow(bridge, fields, byFragment, tell) {
  const fragment = byFragment ? fragmentWith(fields) : '';
  const popup = open(`${bridge}/window${fragment}`, '_blank', 'popup,width=720,height=640');
  if (!popup) {
    // With a policy that cuts windows off there is nothing to hold, though it may be open.
    tell(byFragment ? 'unseen' : 'not_opened', '');
    return () => {};
  }
  const origin = new URL(bridge).origin;
  let handedOver = false;
  /** @param {MessageEvent} event */
  const hear = (event) => {
    if (event.source !== popup || event.origin !== origin) return;
    if (event.data?.type === 'bascule:ready' && !handedOver) {
      handedOver = true;
      popup.postMessage({ type: 'bascule:launch', ...fields }, origin);
    } else if (event.data?.type === 'bascule:news') {
      tell(event.data.news, String(event.data.detail ?? ''));
    }
  };
  const stop = () => {
    removeEventListener('message', hear);
    clearInterval(looking);
    clearTimeout(silence);
  };
  const looking = setInterval(() => {
    if (!popup.closed) return;
    stop();
    tell('closed', '');
  }, LOOK_MS);
  const silence = setTimeout(() => {
    if (!handedOver && !byFragment) tell('silent', '');
  }, READY_MS);
  addEventListener('message', hear);
  return stop;
}

/**
 * The request in the window's address, which no server sees; empty when it is too long for one.
 * @param {LaunchFields} fields
 */
function fragmentWith(fields) {
  const bytes = new TextEncoder().encode(JSON.stringify(fields));
  if (bytes.length > MAX_FRAGMENT / 2) return '';
  const text = btoa(String.fromCharCode(...bytes));
  return `#request=${text.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')}`;
}
