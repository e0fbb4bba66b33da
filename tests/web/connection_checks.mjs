// Run by test_pure_modules.py: connecting again, calls and events, with a scripted socket instead of a browser.
import assert from 'node:assert/strict';
import test from 'node:test';
import { createEvents } from '../../src/bascule/web/js/events.js';
import { Feed, LADDER as PAGE_LADDER } from '../../src/bascule/web/js/feed.js';
import { ReconnectingSocket, backoff } from '../../src/bascule/web/js/reconnecting_socket.js';

const LADDER = { first: 500, longest: 5000 };
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

test('the first try is made at once, later ones wait twice as long each, at most 5 s, a fifth more or less', () => {
  assert.deepEqual(
    [1, 2, 3, 4, 5, 6, 20].map((attempt) => backoff(attempt, LADDER, 0.5)),
    [0, 500, 1000, 2000, 4000, 5000, 5000],
  );
  assert.deepEqual(
    [0, 1].map((random) => Math.round(backoff(2, LADDER, random))),
    [400, 600],
  );
  assert.equal(backoff(20, LADDER, 1), 5000);
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

/** The page's connection over a scripted socket, with what the page was told of its state. */
async function connected(t, onLive = async () => undefined) {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'] });
  scripted();
  globalThis.addEventListener = () => undefined;
  globalThis.document = { addEventListener: () => undefined, hidden: false };
  const phases = [];
  const pushes = [];
  const feed = new Feed({
    key: () => 'secret',
    onLine: ({ phase, attempt }) => phases.push(`${phase} ${attempt}`),
    onPush: (message) => pushes.push(message.type),
    onLive,
  });
  void feed.connect();
  await settle();
  const [socket] = FakeSocket.made;
  socket.open();
  await settle();
  const says = (message) => socket.onmessage({ data: JSON.stringify(message) });
  return { feed, socket, phases, pushes, says };
}

test('each call gets its own answer, whatever order they come in, and a push is no answer', async (t) => {
  const { feed, socket, pushes, says } = await connected(t);
  const calls = [feed.call('one'), feed.call('two', { n: 2 }), feed.call('three').catch((error) => error.code)];
  assert.deepEqual(
    socket.sent.map((text) => JSON.parse(text)),
    [
      { id: 1, type: 'one' },
      { n: 2, id: 2, type: 'two' },
      { id: 3, type: 'three' },
    ],
  );
  says({ id: 3, error: { code: 'FORBIDDEN', message: 'No.' } });
  says({ type: 'session:changed', id: 1 });
  says({ id: 2, ok: 'second' });
  says({ id: 1, ok: 'first' });
  says({ id: 9, ok: 'nobody asked' });
  assert.deepEqual(await Promise.all(calls), ['first', 'second', 'FORBIDDEN']);
  assert.deepEqual(pushes, ['session:changed']);
});

test('a loss refuses the calls under way, and the line is live again once the page has caught up', async (t) => {
  let catchUp = async () => undefined;
  const { feed, socket, phases } = await connected(t, () => catchUp());
  const call = feed.call('one').catch((error) => error.code);
  socket.fail({ code: 1006 });
  assert.equal(await call, 'OFFLINE');
  assert.equal(await feed.call('two').catch((error) => error.code), 'OFFLINE');
  let done;
  catchUp = () => new Promise((resolve) => (done = resolve));
  t.mock.timers.tick(1300);
  await settle();
  FakeSocket.made[1].open();
  await settle();
  assert.equal(phases.at(-1), 'lost 1', 'not before everything was read again');
  done();
  await settle();
  assert.deepEqual(phases.slice(-3), ['lost 1', 'lost 1', 'live 0']);
});

test('the page tries again at once, and never waits longer than 5 s, however long the server is away', async (t) => {
  assert.ok(PAGE_LADDER.first <= PAGE_LADDER.longest && PAGE_LADDER.longest <= 5000);
  const { feed, socket } = await connected(t);
  globalThis.fetch = async () => {
    throw new TypeError('no server');
  };
  const waits = [];
  socket.fail({ code: 1006 });
  for (let n = 1; n <= 12; n++) {
    assert.deepEqual([feed.line.phase, feed.line.attempt], ['lost', n]);
    waits.push(feed.line.retryAt - Date.now());
    t.mock.timers.tick(Math.ceil(waits.at(-1)));
    await settle();
  }
  assert.equal(waits[0], 0);
  assert.ok(
    waits.slice(1).every((wait) => wait > 0 && wait <= 5000),
    String(waits),
  );
});

test('a server that fell silent is left, a revoked key is not tried again', async (t) => {
  const { socket, phases } = await connected(t);
  t.mock.timers.tick(10_000);
  assert.equal(JSON.parse(socket.sent.at(-1)).type, 'ping');
  t.mock.timers.tick(20_000);
  assert.equal(phases.at(-1), 'lost 1');
  t.mock.timers.tick(1300);
  await settle();
  FakeSocket.made[1].open();
  await settle();
  FakeSocket.made[1].fail({ code: 1008, reason: 'revoked' });
  t.mock.timers.tick(60_000);
  await settle();
  assert.deepEqual([phases.at(-1), FakeSocket.made.length], ['refused 0', 2]);
});
