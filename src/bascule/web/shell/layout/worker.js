/**
 * Lets the browser keep the page's own files, so that it can be installed and opens while the server is away; and
 * goes where a notification leads.
 */

const WORKER = '/worker.js';

/** @param {(path: string) => void} open a place that a notification leads to */
export function keepShell(open) {
  if (!('serviceWorker' in navigator) || !window.isSecureContext) return;
  // The one address that may ever become code here.
  const policy = /** @type {TrustedTypesWindow} */ (window).trustedTypes?.createPolicy('bascule-worker', {
    createScriptURL: (/** @type {string} */ url) => (url === WORKER ? url : ''),
  });
  const address = policy ? policy.createScriptURL(WORKER) : WORKER;
  navigator.serviceWorker.addEventListener('message', ({ data }) => {
    if (data?.type === 'open' && typeof data.path === 'string') open(data.path);
  });
  // A convenience: where the browser refuses, the page works the same without it.
  navigator.serviceWorker
    .register(address, { scope: '/' })
    .then(() => navigator.serviceWorker.ready)
    .then(
      ({ active }) => active?.postMessage(taken()),
      () => undefined,
    );
}

/** The files this page was made of so far. */
const taken = () =>
  performance
    .getEntriesByType('resource')
    .map((entry) => new URL(entry.name))
    .filter((url) => url.origin === location.origin)
    .map((url) => url.pathname);
