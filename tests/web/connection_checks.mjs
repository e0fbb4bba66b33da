// Run by test_pure_modules.py: connecting again, events and requests, with a scripted socket instead of a browser.
import assert from 'node:assert/strict';
import test from 'node:test';
import { createEvents } from '../../src/bascule/web/js/events.js';
import { count, folderName, money, ordinal, tokens } from '../../src/bascule/web/js/format.js';
import { ReconnectingSocket, backoff } from '../../src/bascule/web/js/reconnecting_socket.js';
import { createStore } from '../../src/bascule/web/js/store.js';
import { Live } from '../../src/bascule/web/shell/live.js';
import { FIRST } from '../../src/bascule/web/shell/state.js';

const LADDER = { first: 1000, longest: 30_000 };
const settle = () => new Promise((resolve) => setImmediate(resolve));

class FakeSocket {
  static OPEN = 1;
  static made = [];
  readyState = 0;
  sent = [];
  constructor(address) {
    this.address = address;
    FakeSocket.made.push(this);
  }
  open() {
    this.readyState = 1;
    this.onopen();
  }
  send(data) {
    this.sent.push(data);
  }
  close() {
    this.readyState = 3;
  }
  fail(event = {}) {
    this.readyState = 3;
    this.onclose(event);
  }
}

/** A socket with a scripted server, and what its owner was told. */
function scripted(status = 200) {
  FakeSocket.made = [];
  const told = [];
  const server = { status, ticket: 't 1' };
  globalThis.WebSocket = FakeSocket;
  globalThis.location = { protocol: 'https:', host: 'tower' };
  globalThis.fetch = async () => ({
    status: server.status,
    ok: server.status === 200,
    json: async () => ({ ticket: server.ticket }),
  });
  const socket = new ReconnectingSocket({
    key: () => 'secret',
    address: (ticket) => `/ws?ticket=${encodeURIComponent(ticket)}`,
    ladder: LADDER,
    onOpen: () => void told.push('open'),
    onMessage: (data) => told.push(data),
    onClose: ({ reason }) => reason !== 'over',
    onLost: (attempt) => told.push(`lost ${attempt}`),
    onRefused: () => told.push('refused'),
  });
  return { socket, told, server };
}

test('each try waits twice as long as the one before, up to a limit, a fifth more or less', () => {
  assert.deepEqual(
    [1, 2, 3, 5, 6, 20].map((attempt) => backoff(attempt, LADDER, 0.5)),
    [1000, 2000, 4000, 16_000, 30_000, 30_000],
  );
  assert.deepEqual(
    [0, 1].map((random) => Math.round(backoff(1, LADDER, random))),
    [800, 1200],
  );
});

test('a lost socket is opened again with a fresh ticket, and the count begins anew once it works', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { socket, told, server } = scripted();
  void socket.connect();
  await settle();
  assert.equal(FakeSocket.made[0].address, 'wss://tower/ws?ticket=t%201');
  FakeSocket.made[0].open();
  FakeSocket.made[0].onmessage({ data: 'hello' });
  FakeSocket.made[0].fail();
  await settle();
  server.ticket = 't2';
  t.mock.timers.tick(1300);
  await settle();
  assert.equal(FakeSocket.made[1].address, 'wss://tower/ws?ticket=t2');
  FakeSocket.made[1].open();
  socket.settled();
  FakeSocket.made[1].fail();
  assert.deepEqual(told, ['open', 'hello', 'lost 1', 'open', 'lost 1']);
  socket.close();
});

test('a socket that was let go is not heard any more, and one that is over stays closed', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { socket, told } = scripted();
  void socket.connect();
  await settle();
  void socket.connect();
  await settle();
  const [first, second] = FakeSocket.made;
  first.onmessage({ data: 'late' });
  first.fail();
  second.open();
  second.fail({ reason: 'over' });
  t.mock.timers.tick(60_000);
  await settle();
  assert.deepEqual(told, ['open']);
  assert.equal(FakeSocket.made.length, 2);
});

test('a browser that is not let in does not try again by itself', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { socket, told, server } = scripted(401);
  await socket.connect();
  server.status = 503;
  await socket.connect();
  assert.deepEqual(told, ['refused']);
  socket.settled();
  await socket.connect();
  assert.deepEqual(told, ['refused', 'lost 1']);
  socket.close();
});

test('every listener hears an event, whatever another one does', () => {
  globalThis.reportError = () => undefined;
  const events = createEvents();
  const heard = [];
  events.on('mention', () => {
    throw new Error('broken');
  });
  events.on('mention', (path) => heard.push(path));
  events.emit('mention', 'a.py');
  events.emit('__proto__', 1);
  assert.deepEqual(heard, ['a.py']);
});

const request = (id, state = 'open', more = {}) => ({ session_id: 's1', request_id: id, state, ...more });

/** The requests a page holds, with a list that comes when the test says so. */
function held() {
  const store = createStore({ ...FIRST });
  const list = later();
  const live = new Live(store, { requests: () => list.promise }, {});
  const states = () => Object.values(store.get().requests).map((one) => [one.request_id, one.state]);
  return { live, list, states, store };
}

function later() {
  const made = {};
  made.promise = new Promise((resolve) => Object.assign(made, { resolve }));
  return made;
}

test('a push opens and settles a request; one that is unknown and over is passed over', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { live, states } = held();
  live.requests.take(request('r1'));
  live.requests.take(request('r2', 'answered'));
  assert.deepEqual(states(), [['r1', 'open']]);
  live.requests.take(request('r1', 'answered', { answer: { by: 'ana' } }));
  live.requests.take(request('r1', 'delivered'));
  assert.deepEqual(states(), [['r1', 'answered']]);
  t.mock.timers.tick(12_000);
  assert.deepEqual(states(), []);
});

test('what was answered here leaves when the agent has it', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { live, states } = held();
  live.requests.take(request('r1', 'open', { here: true }));
  live.requests.take(request('r1', 'answered'));
  live.requests.take(request('r1', 'delivered'));
  assert.deepEqual(states(), []);
});

test('pushes that come while the list is under way are newer than the list', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { live, list, states } = held();
  live.requests.take(request('gone'));
  const listed = live.requests.list();
  live.requests.take(request('new'));
  live.requests.take(request('old', 'withdrawn', { reason: 'agent' }));
  list.resolve([request('old'), request('kept')]);
  live.requests.set(await listed);
  assert.deepEqual(states().sort(), [
    ['kept', 'open'],
    ['new', 'open'],
    ['old', 'withdrawn'],
  ]);
});

/** A page that lost its line with one request open, and is connected again: nothing is listed any more. */
async function backAfterLoss(more = {}) {
  const page = held();
  page.live.seqs.set('s1', 7);
  page.live.frames = { events: () => undefined };
  page.live.requests.take(request('r1', 'open', more));
  const listed = page.live.requests.list();
  page.list.resolve([]);
  page.live.requests.set(await listed);
  return page;
}

test('a request that was settled while the page was away is shown as settled, with who answered it', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { live, states, store } = await backAfterLoss();
  assert.deepEqual(states(), [], 'it can be answered no more');
  const answered = { type: 'permission_answered', request_id: 'r1', decision: 'allow', by: 'ana' };
  live.take('s1', [{ seq: 8, at: '2026-11-12T14:00:00Z', event: answered }]);
  const [settled] = Object.values(store.get().requests);
  assert.deepEqual(
    [settled.state, settled.answer.by, settled.answered_at],
    ['answered', 'ana', '2026-11-12T14:00:00Z'],
  );
  t.mock.timers.tick(12_000);
  assert.deepEqual(states(), []);
});

test('one that was taken back, or answered here and delivered, while the page was away', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const back = await backAfterLoss();
  back.live.take('s1', [
    { seq: 8, at: '', event: { type: 'permission_withdrawn', request_id: 'r1', reason: 'interrupted' } },
  ]);
  assert.deepEqual(
    Object.values(back.store.get().requests).map((one) => [one.state, one.gone]),
    [['withdrawn', 'interrupted']],
  );
  const here = await backAfterLoss({ here: true });
  here.live.take('s1', [
    { seq: 8, at: '', event: { type: 'permission_answered', request_id: 'r1', decision: 'allow', by: 'ana' } },
    { seq: 9, at: '', event: { type: 'answer_delivered', request_id: 'r1' } },
  ]);
  assert.deepEqual(here.states(), []);
});

test('what is listed again, or of another log, is settled by no late event', async () => {
  const answered = { seq: 8, at: '', event: { type: 'permission_answered', request_id: 'r1', by: 'ana' } };
  const again = await backAfterLoss();
  again.live.requests.set([request('r1')]);
  again.live.take('s1', [answered]);
  assert.deepEqual(again.states(), [['r1', 'open']]);
  const other = await backAfterLoss();
  other.live.requests.forget();
  other.live.take('s1', [answered]);
  assert.deepEqual(other.states(), []);
});

test('numbers are said as people say them', () => {
  assert.deepEqual([count(1, 'file'), count(2, 'file'), ordinal(3), ordinal(9)], ['1 file', '2 files', 'third', '9th']);
  assert.deepEqual(
    [money(0.001), money(1.5), folderName('/code/api/'), folderName('')],
    ['< $0.01', '$1.50', 'api', 'this machine'],
  );
  assert.equal(tokens(900), '900 tokens');
});
