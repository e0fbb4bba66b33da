/** This browser's own subscription to web push: whether it can have one, making it, ending it. */

/** @typedef {import('./parts.js').Context} Context */

const SERVICE_MS = 30_000;

/** Why this browser can't get notifications, in words; empty when it can. */
export function pushObstacle() {
  if (!window.isSecureContext)
    return 'This page was not opened over https, so there is no push. Open Bascule over https or on localhost.';
  if (!('serviceWorker' in navigator) || !('PushManager' in window) || !('Notification' in window))
    return 'This browser offers no push to this page. On an iPhone or iPad, add Bascule to the Home Screen first.';
  if (Notification.permission === 'denied')
    return 'The browser blocks notifications from this page. Allow them in its settings for this site.';
  return '';
}

/**
 * @param {Context} context
 * @param {string} key the server's public key
 */
export async function turnOn({ app }, key) {
  if ((await Notification.requestPermission()) !== 'granted')
    throw new Error('The browser did not allow notifications. Allow them for this site, then try again.');
  const { pushManager } = await navigator.serviceWorker.ready;
  const known = await pushManager.getSubscription();
  // One that was made for another key of the server is of no use to this one.
  if (known && !sameKey(known.options.applicationServerKey, key)) await known.unsubscribe();
  const made = await answered(pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key }));
  const { endpoint, keys } = made.toJSON();
  return app.api.subscribePush({ endpoint: endpoint ?? '', p256dh: keys?.p256dh ?? '', auth: keys?.auth ?? '' });
}

/**
 * A browser that can't reach its maker's push service may wait for it without end.
 * @template T
 * @param {Promise<T>} subscribing
 * @param {number} [milliseconds]
 * @returns {Promise<T>}
 */
export function answered(subscribing, milliseconds = SERVICE_MS) {
  const words = "The browser's push service does not answer. It belongs to the browser's maker and needs the internet.";
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${words} Try again, or use another channel.`)), milliseconds);
    subscribing.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/**
 * @param {Context} context
 * @param {string} channelId
 */
export async function turnOff({ app }, channelId) {
  const registration = await navigator.serviceWorker?.getRegistration();
  await (await registration?.pushManager?.getSubscription())?.unsubscribe();
  return app.api.removeChannel(channelId);
}

/**
 * @param {ArrayBuffer | null} held
 * @param {string} key
 */
function sameKey(held, key) {
  const text = String.fromCharCode(...new Uint8Array(held ?? new ArrayBuffer(0)));
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '') === key;
}
