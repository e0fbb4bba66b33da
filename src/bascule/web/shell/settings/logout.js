/** Logging out: this browser forgets its key, its drafts and every copy of the page, and shows the door. */

import { dropAllKeys } from '../start/trusted_keys.js';
import { forgetAll } from '../storage.js';

export async function leave() {
  forgetAll();
  await dropAllKeys();
  // The worker goes first, or it would keep what is asked for next.
  for (const worker of (await navigator.serviceWorker?.getRegistrations()) ?? []) await worker.unregister();
  if ('caches' in window) for (const name of await caches.keys()) await caches.delete(name);
  forgetAll(); // what was still being written meanwhile
  location.replace('/');
}
