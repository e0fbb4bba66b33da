// Run by test_pure_modules.py: sessions that a page reads and follows, with a scripted server.
import assert from 'node:assert/strict';
import test from 'node:test';
import { createEvents } from '../../src/bascule/web/js/events.js';
import { createStore } from '../../src/bascule/web/js/store.js';
import { Live } from '../../src/bascule/web/shell/live.js';
import { takePushes } from '../../src/bascule/web/shell/pushes.js';
import { FIRST, filledRecord } from '../../src/bascule/web/shell/state.js';

const pageOf = (epoch, seq) => ({ session: { session_id: 's1' }, epoch, seq, entries: [] });

const missing = () => Object.assign(new Error('no such session'), { code: 'SESSION_NOT_FOUND' });

/** A page whose server answers `session:open` with these, one after the other. */
function paged(...pages) {
  const store = createStore({ ...FIRST });
  const events = createEvents();
  const shown = [];
  const api = {
    open: async () => {
      const page = pages.shift();
      if (page instanceof Error) throw page;
      return page;
    },
    subscribe: async () => ({}),
    events: async () => ({ events: [] }),
    fetchFound: async () => {
      throw missing();
    },
  };
  const frames = {
    opened: (_, page) => shown.push([page.epoch, page.seq]),
    forget: () => shown.push('forgotten'),
  };
  const live = new Live(store, api, frames);
  takePushes({ store, events, live, list: { countAgain: () => undefined }, closeTab: () => undefined });
  return { api, events, live, shown, store, state: () => store.get().live.s1 };
}

test('a log that is begun again while it is being read is read again', async () => {
  const { api, events, live, shown, state } = paged(pageOf('old', 7), pageOf('new', 2));
  api.subscribe = async () => {
    api.subscribe = async () => ({});
    events.emit('resync', { type: 'resync', sessionId: 's1', after: 0, epoch: 'new', reason: 'replaced' });
    return {};
  };
  live.ensure('s1');
  while (live.opening.has('s1')) await live.opening.get('s1');
  assert.deepEqual(shown, [['old', 7], 'forgotten', ['new', 2]]);
  assert.deepEqual([state().opened, state().error, live.seqs.get('s1')], [true, '', 2]);
});

test('a session that was asked for before its first row came is read when it has come', async () => {
  const { events, live, shown, state } = paged(missing(), pageOf('new', 2));
  await live.ensured('s1');
  assert.equal(state().error, 'There is no such session here.');
  events.emit('session:created', { type: 'session:created', session: { session_id: 's1' } });
  await live.opening.get('s1');
  assert.deepEqual(shown, [['new', 2]]);
  assert.deepEqual([state().opened, state().error], [true, '']);
});

test('a found session that a link leads to is copied from whichever machine has it, and has a tab', async () => {
  const { api, live, shown, store, state } = paged(missing(), pageOf('new', 2));
  const asked = [];
  api.fetchFound = async (...words) => asked.push(words);
  store.set({ route: { name: 'session', id: 's1' } });
  await live.ensured('s1');
  assert.deepEqual([asked, shown, state().error], [[['s1', undefined]], [['new', 2]], '']);
  assert.deepEqual(store.get().tabs, ['s1']);
});

test('a guest asks no machine for a session', async () => {
  const { api, live, store, state } = paged(missing());
  api.fetchFound = async () => assert.fail('asked');
  store.set({ me: { sessionId: 's2' } });
  await live.ensured('s1');
  assert.equal(state().error, 'There is no such session here.');
});

test('an agent’s idea of a title never takes the place of a person’s', () => {
  const { live, store } = paged();
  live.seqs.set('s1', 1);
  const session = filledRecord({ session_id: 's1', title: 'Mine', titled: true });
  store.set({ sessions: { s1: session } });
  const titled = (seq, event) => live.take('s1', [{ seq, at: '', event: { type: 'title_changed', ...event } }]);
  const title = () => store.get().sessions.s1.title;
  live.frames.events = () => undefined;
  titled(2, { title: 'Its own' });
  assert.equal(title(), 'Mine');
  titled(3, { title: 'Jonas’s', by: 'Jonas' });
  assert.equal(title(), 'Jonas’s');
});
