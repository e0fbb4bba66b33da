/** The page begins here: take the key from the link, mount the parts, connect. */

import { createApp } from './app.js';
import { mountRequests } from './requests/requests.js';
import { mountAway } from './connection/away.js';
import { mountBanner } from './connection/banner.js';
import { mountCompare } from './compare/compare.js';
import { mountComposer } from './composer/composer.js';
import { mountConfirm } from './session/confirm.js';
import { mountGuest } from './connection/guest.js';
import { mountGuard } from './requests/guard.js';
import { mountInbox } from './requests/inbox.js';
import { mountLibrary } from './library/library.js';
import { mountFound } from './sidebar/found.js';
import { listenForKeys } from './layout/keys.js';
import { mountPalette } from './search/palette.js';
import { mountPanel } from './panel/panel.js';
import { atShared, routeOf } from './routes.js';
import { secret, takeApproval, takeOffer, takePairing, takeSecret, takeTrust } from './storage.js';
import { mountQueue } from './composer/queue.js';
import { mountSearch } from './search/search.js';
import { mountSessionBar } from './session/bar.js';
import { mountSettings } from './settings/settings.js';
import { mountSidebar } from './sidebar/sidebar.js';
import { mountBottomBar } from './layout/bottom_bar.js';
import { mountFind } from './search/find_bar.js';
import { mountLocked } from './connection/locked.js';
import { enterByLink } from './connection/pairing.js';
import { mountNotes } from './layout/toasts.js';
import { mountNotifying } from './notifying.js';
import { mountTitle } from './layout/title.js';
import { mountOffered } from './start/offered.js';
import { showApproval } from './start/approve_link.js';
import { mountStart } from './start/start.js';
import { shownSession } from './state.js';
import { mountTabs } from './session/tabs.js';
import { mountTerminals } from './terminal/terminals.js';
import { mountUnlogged } from './sidebar/unlogged.js';
import { tellActivity } from './layout/activity.js';
import { keepShell } from './layout/worker.js';
import { h } from '../js/dom.js';
import { put } from '../js/tables.js';

/** @param {string} id */
const place = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** @param {string} name */
function screen(name) {
  const element = h('div', { class: `view flat screen-${name}`, hidden: true });
  place('screen').append(element);
  return element;
}

const shared = atShared();
const had = secret.get();
const offer = takeOffer();
const pairing = takePairing();
const approval = takeApproval();
const trusting = takeTrust();
const brought = takeSecret();
if (brought) secret.set(brought, shared);

const app = createApp(place('well'));
// One line for each part. A screen of its own also needs its address in `routes.js`.
const palette = mountPalette(place('overlay'), app);
mountGuest(place('guest'), app);
mountBanner(place('banner'), app);
mountTabs(place('tabs'), app);
const inbox = mountInbox(screen('inbox'), app);
mountSearch(screen('search'), app);
mountCompare(screen('compare'), app);
const library = mountLibrary(screen('library'), app);
mountStart(screen('start'), app, library.prompts);
mountOffered(app, offer);
mountSettings(screen('settings'), app, trusting);
const terminals = mountTerminals(app);
mountLocked(screen('locked'), app, { before: brought && had !== brought ? had : null, shared });
const find = mountFind(place('find'), app, terminals.find);
mountSessionBar(place('sbar'), app, { find: find.open });
mountAway(place('away'), app);
const requests = mountRequests(place('requests'), app);
mountGuard(place('guard'), app);
mountConfirm(place('confirm'), app);
const queue = mountQueue(place('queue'), app);
mountComposer(place('composer'), app, queue, library.prompts);
mountFound(place('composer'), app);
mountPanel(place('panel'), app);
mountUnlogged(app);
mountSidebar(place('side'), app, { palette: palette.search });
mountBottomBar(place('bnav'), app);
mountNotes(place('notes'), app);
mountTitle(app);
mountNotifying(app);
listenForKeys(app, {
  palette: palette.search,
  keys: palette.keys,
  ask: requests.focus,
  find: find.open,
  inbox: inbox.move,
});

/**
 * @param {import('./state.js').State} state
 * @param {import('./state.js').State} [before]
 */
function arrange(state, before) {
  const shown = shownSession(state);
  place('session').hidden = !shown;
  place('screen').hidden = state.route.name === 'session';
  place('stage').className = `stage at-${state.route.name}`;
  place('app').classList.toggle('noside', !state.side);
  app.frames.show(shown);
  if (shown && state.route.name === 'session') look(state, shown);
  if (state.theme !== before?.theme) {
    if (state.theme === 'auto') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = state.theme;
    app.frames.tellAll({ type: 'theme', theme: state.theme });
  }
}

/**
 * What a person has in front of them counts as seen.
 * @param {import('./state.js').State} state
 * @param {string} id
 */
function look(state, id) {
  const seq = state.sessions[id]?.seq ?? 0;
  if (!document.hidden && (state.seen[id] ?? 0) < seq) app.store.set({ seen: put(state.seen, id, seq) });
}

app.store.subscribe(arrange);
arrange(app.store.get());
setInterval(() => app.store.set((state) => ({ tick: state.tick + 1 })), 1000);
if (trusting) app.go({ name: 'settings', part: 'devices' });
const { route } = app.store.get();
if (route.name === 'session' && route.id) app.frames.ensure(route.id);
if (approval) void showApproval(place('app'), approval);
else if (pairing) void enterByLink(app, pairing);
else if (secret.get()) void app.feed.connect();
else void app.feed.askWhy();
addEventListener('load', () => keepShell((path) => app.go(routeOf(path))));
tellActivity(app);
