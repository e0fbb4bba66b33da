/** Joins the page: store, line, sessions and frames; and what any part of it may ask for. */

import { createApi } from '../js/api.js';
import { createEvents } from '../js/events.js';
import { Feed } from '../js/feed.js';
import { createStore } from '../js/store.js';
import { leave } from './settings/logout.js';
import { openLink } from './links.js';
import { Live } from './live.js';
import { createConnecting, loadPairings } from './connecting.js';
import { createNavigation } from './navigation.js';
import { createNotices } from './notices.js';
import { createOutbox } from './outbox.js';
import { createSessionList } from './session_list.js';
import { takePushes } from './pushes.js';
import { keepInPlace, restored, secret } from './storage.js';
import { loadAnswers } from './requests/waiting.js';
import { mayBranch, offerBranch, showSource, tellCopies } from './session/branching.js';
import { editMessage } from './session/editing.js';
import { FIRST, isGuest, mayStart } from './state.js';
import { deviceIdOf, hereId } from './machines.js';
import { withSignature } from './start/trusted_keys.js';
import { ownNames } from './sessions.js';
import { closeTab } from './session/tabs.js';
import { Frames } from './frames/frames.js';

/** @typedef {ReturnType<typeof createApp>} App */
/** @typedef {{icon: string, label: string, keys?: string, when?: () => boolean, run: () => void}} Command */

/** @param {HTMLElement} framePlace */
export function createApp(framePlace) {
  const store = createStore({ ...FIRST, ...restored() });
  const events = createEvents();
  const feed = new Feed({
    key: secret.get,
    onLine: (line) => connecting.lineChanged(line),
    onPush: (message) => events.emit(message.type, message),
    onLive: () => connecting.refresh(),
  });
  const api = createApi(feed, {
    signed: (body, device) => withSignature(device || hereId(store.get()), body),
    deviceOf: (id) => deviceIdOf(store.get(), store.get().sessions[id] ?? {}),
  });
  const notices = createNotices(store);
  const frames = new Frames(
    framePlace,
    {
      more: (id, place, number) => void live.more(id, place, number),
      search: (id, text) => void live.search(id, text),
      branch: (id) => offerBranch(app, id),
      edit: (id, seq) => void editMessage(app, id, seq).catch(notices.trouble),
      source: (id) => showSource(app, id),
      link: (href, at) => openLink(notices.copy, href, at),
      copy: (text) => notices.copy(text),
      keep: (text) => events.emit('keepPrompt', text),
      changes: (_, seq) => store.set({ panel: true, panelTab: 'changes', panelTurn: seq }),
      file: (id, path, line) => store.set({ panel: true, panelTab: 'files', panelFile: { id, path, line } }),
      key: (key) => events.emit('shortcut', key),
      found: (result) => events.emit('findResult', result),
    },
    () => store.get().theme,
    () => ownNames(store.get()),
    (id) => mayBranch(store.get(), id),
    () => mayStart(store.get()),
  );
  const live = new Live(store, api, frames);
  frames.mayFiles = () => !isGuest(store.get());
  frames.onForgotten = (id) => live.close(id);
  const { go, goTo } = createNavigation(store, live, frames);
  const sendHeld = createOutbox(store, api, notices.trouble, events.emit);
  const list = createSessionList(store, api);
  const pushes = takePushes({ store, events, live, list, closeTab: (id) => closeTab(app, id) });
  const { note } = notices;
  const connecting = createConnecting({ store, feed, api, live, list, pushes, frames, go, sendHeld, note });
  events.on('pairings:changed', () => void loadPairings(store, api));
  events.on('answers:changed', () => void loadAnswers(store, api, notices.note));

  /** What parts of the page offer in the palette. @type {Command[]} */
  const commands = [];
  /** @param {Command} command */
  const offer = (command) => void commands.push(command);

  store.subscribe(keepInPlace);
  tellCopies(store, frames);
  const app = {
    store,
    events,
    feed,
    api,
    live,
    list,
    frames,
    go,
    goTo,
    offer,
    commands,
    lookAgain: connecting.lookAgain,
    ...notices,
    openLink: (/** @type {string} */ href, /** @type {import('./links.js').Point} */ at) =>
      openLink(notices.copy, href, at),
    sendHeld,
    leave,
  };
  return app;
}
