// Run by test_pure_modules.py: the requests a page knows, which of them is in view, and what is said of them.
import assert from 'node:assert/strict';
import test from 'node:test';
import { createStore } from '../../src/bascule/web/js/store.js';
import { Live } from '../../src/bascule/web/shell/live.js';
import {
  answerRow,
  inboxItems,
  keysOf,
  requestRow,
  stoppedRow,
} from '../../src/bascule/web/shell/requests/inbox_items.js';
import { afterList } from '../../src/bascule/web/shell/requests/known_requests.js';
import { whyBlocked } from '../../src/bascule/web/shell/requests/permission_buttons.js';
import { answersOf, picked } from '../../src/bascule/web/shell/requests/question.js';
import { requestsInView } from '../../src/bascule/web/shell/requests/in_view.js';
import { settledWords } from '../../src/bascule/web/shell/requests/settled.js';
import { readTyped, undelivered } from '../../src/bascule/web/shell/requests/typed.js';
import { loadAnswers } from '../../src/bascule/web/shell/requests/waiting.js';
import { statusOf } from '../../src/bascule/web/shell/sessions.js';
import { FIRST, filledRecord, openRequests } from '../../src/bascule/web/shell/state.js';

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

test('a list keeps what is settled and names the open ones it no longer has', () => {
  const known = {
    's1/a': request('a', 'open', { here: true }),
    's1/b': request('b'),
    's1/c': request('c', 'answered'),
  };
  const { requests, unlisted } = afterList(known, [request('a'), request('d')]);
  assert.deepEqual(Object.keys(requests).sort(), ['s1/a', 's1/c', 's1/d']);
  assert.equal(requests['s1/a'].here, true, 'what this page knows of it stays');
  assert.deepEqual(
    unlisted.map(([key]) => key),
    ['s1/b'],
  );
});

// What is in view, and what is said of it ---------------------------------------------------------------

const session = (more = {}) =>
  filledRecord({ session_id: 's1', agent: 'demo', cwd: '/code/api', device: 'd1', phase: 'waiting', ...more });
const withRequests = (...requests) => ({
  ...FIRST,
  me: { name: 'ben', role: 'owner', waits: { permission: 600, question: 0 } },
  devices: [{ device: 'd1', name: 'tower', online: true, agents: [] }],
  sessions: { s1: session() },
  route: { name: 'session', id: 's1' },
  requests: Object.fromEntries(requests.map((one) => [`${one.session_id}/${one.request_id}`, one])),
});

test('the oldest request of the session in view is shown, or the one that was picked', () => {
  const state = withRequests(
    request('new', 'open', { opened_at: '2', seq: 2 }),
    request('old', 'open', { opened_at: '1', seq: 1 }),
    request('ruled', 'answered', { answer: { by: 'policy' } }),
    request('done', 'answered', { answer: { by: 'ana' } }),
    { ...request('elsewhere', 'open', { opened_at: '0' }), session_id: 's2' },
  );
  const shown = requestsInView(state);
  assert.deepEqual([shown.all.map((one) => one.request_id), shown.at], [['old', 'new'], 0]);
  assert.deepEqual(
    shown.settled.map((one) => one.request_id),
    ['done'],
  );
  assert.equal(requestsInView({ ...state, requestPick: { s1: 's1/new' } }).at, 1);
  assert.equal(requestsInView({ ...state, requestPick: { s1: 's1/gone' } }).at, 0);
  assert.deepEqual(requestsInView({ ...state, route: { name: 'start' } }).all, []);
});

test('a settled request says who settled it and whether anything is left to do', () => {
  const words = (more, state = 'answered') => {
    const ask = { ...request('r', state, more), kind: more.kind ?? 'permission' };
    return settledWords(withRequests(ask), ask).slice(1).join(' ');
  };
  const at = '2026-11-12T14:00:00Z';
  assert.match(words({ answer: { by: 'ana', decision: 'allow' }, answered_at: at }), /^ana allowed this at /);
  assert.match(
    words({ answer: { by: 'ben', decision: 'deny' }, answered_at: at }),
    /^You denied this in another browser/,
  );
  assert.equal(
    words({ answer: { by: 'ben', decision: 'allow' }, here: true }),
    'Allowed. Waiting for tower to confirm.',
  );
  assert.match(words({ answer: { by: 'timeout' } }), /^No answer for 10 min, so it was denied\./);
  assert.match(words({ answer: { by: 'timeout' }, kind: 'question' }), /^No answer in time, so it was given up\./);
  assert.equal(words({ gone: 'interrupted' }, 'withdrawn'), 'Demo took this request back. The turn was stopped.');
  assert.match(words({ gone: 'restored' }, 'withdrawn'), /^This request was answered before\./);
});

test('allowing waits for the guard, for the end of the text and for an answer that is on its way', () => {
  const ask = request('r');
  assert.equal(whyBlocked(ask, { inert: true, seen: true }), 'In a moment');
  assert.equal(whyBlocked(ask, { inert: false, seen: false }), 'Scroll to the end first');
  assert.equal(whyBlocked({ ...ask, sending: 'Allowed.' }, { inert: false, seen: true }), 'Sent');
  assert.equal(whyBlocked(ask, { inert: false, seen: true }), null);
});

test('a question is answered when each part is, by options or in own words', () => {
  const questions = [{ question: 'Which?' }, { question: 'Why?' }];
  const draft = new Map([['Which?', { picked: ['a', 'b'], free: ' c ' }]]);
  assert.equal(answersOf(questions, draft), null);
  assert.deepEqual(
    { ...answersOf(questions, draft.set('Why?', { picked: [], free: 'so' })) },
    {
      'Which?': 'a, b, c',
      'Why?': 'so',
    },
  );
  assert.deepEqual(picked({}, { picked: ['a'], free: 'x' }, 'b'), { picked: ['b'], free: '' });
  assert.deepEqual(picked({ multi_select: true }, { picked: ['a'], free: 'x' }, 'b'), { picked: ['a', 'b'] });
  assert.deepEqual(picked({ multi_select: true }, { picked: ['a', 'b'], free: '' }, 'a'), { picked: ['b'] });
});

test('the inbox lists requests, then what stopped, then what finished since somebody looked', () => {
  const ask = { ...request('r', 'open', { opened_at: '1', asked: null }), kind: 'question' };
  const state = {
    ...withRequests(ask),
    sessions: {
      s1: session({ open_requests: 1 }),
      done: session({ session_id: 'done', turns: 1, seq: 9 }),
      seen: session({ session_id: 'seen', turns: 1, seq: 9 }),
      failed: session({ session_id: 'failed', phase: 'failed', seq: 3 }),
      closed: session({ session_id: 'closed', phase: 'ended', end_reason: 'closed', seq: 3 }),
    },
    seen: { seen: 9 },
  };
  assert.deepEqual(keysOf(inboxItems(state)), ['s1/r', 'failed', 'done']);
  assert.deepEqual(
    ['failed', 'ended'].map((phase) => stoppedRow(FIRST, session({ phase, turns: 1 })).first),
    ['Did not come back', 'Exited on its own'],
  );
  const complained = console.error;
  console.error = () => undefined;
  assert.equal(requestRow(state, ask).first, 'A request that can’t be shown');
  console.error = complained;
});

const AT = '2026-01-05T14:01:00.000Z';

const answer = (more = {}) => ({
  id: 'a1',
  device: 'd2',
  deviceName: 'laptop',
  sessionId: 's1',
  sessionTitle: 'Port the parser',
  requestId: 'r1',
  decision: 'deny',
  by: 'Mira',
  at: AT,
  expiresAt: null,
  sentAt: null,
  state: 'waiting',
  outcome: '',
  settledAt: null,
  mayTakeBack: true,
  ...more,
});

const answered = (...answers) => ({
  ...FIRST,
  me: { name: 'Mira' },
  route: { name: 'session', id: 's1' },
  sessions: { s1: filledRecord({ session_id: 's1', open_requests: 1, phase: 'running' }) },
  requests: { 's1/r1': request('r1', 'open', { opened_at: AT }) },
  answers,
});

test('a request whose answer waits for its machine asks nobody any more', () => {
  const state = answered(answer());
  assert.deepEqual(openRequests(state), []);
  assert.equal(statusOf(state, state.sessions.s1).word, 'Answered');
  const { all, given } = requestsInView(state);
  assert.deepEqual([all.length, given.length], [0, 1]);
  const items = inboxItems(state);
  assert.deepEqual([items.open.length, items.given.length], [0, 1]);
  assert.deepEqual(keysOf(items), ['s1/r1']);
  assert.equal(answerRow(state, items.given[0]).first, 'Your answer is waiting for laptop');
  assert.equal(answerRow(state, answer({ by: 'Ben' })).first, 'The answer of Ben is waiting for laptop');
});

test('an answer that was not applied leaves its request open, and says why beside it', () => {
  const lapsed = answer({
    state: 'expired',
    outcome: 'It was not applied: too old.',
    settledAt: new Date().toISOString(),
  });
  const state = answered(lapsed);
  assert.equal(openRequests(state).length, 1);
  const { all, given } = requestsInView(state);
  assert.deepEqual([all.length, given[0].id], [1, 'a1']);
  assert.deepEqual(keysOf(inboxItems(state)), ['s1/r1']);
  assert.equal(answerRow(state, lapsed).first, 'Denied for laptop. It was not applied: too old');
});

test('a delivered answer is told once, and stays in the inbox with its time', async () => {
  const store = createStore(answered(answer()));
  const said = [];
  const settledAt = new Date().toISOString();
  const api = { answers: () => Promise.resolve([answer({ state: 'applied', settledAt })]) };
  for (let time = 0; time < 2; time++) await loadAnswers(store, api, (text) => said.push(text));
  assert.equal(said.length, 1);
  assert.match(said[0], /^Denied, delivered to laptop \d\d:\d\d/);
  store.set({ requests: {} });
  assert.equal(inboxItems(store.get()).given.length, 1);
});

test('of what was typed into a request, the words that no answer brought to the agent are left', () => {
  const typed = readTyped(
    JSON.stringify({ reason: ' too early ', draft: [['Which?', { picked: ['A'], free: 'one "more"' }]] }),
  );
  const settled = (given, state = 'answered') => request('r1', state, { answer: given });
  assert.equal(undelivered(typed), 'too early\n\none "more"');
  assert.equal(undelivered(typed, settled({ by: 'Jonas', answers: {} })), 'too early\n\none "more"');
  assert.equal(undelivered(typed, settled({ by: 'ana', answers: { 'Which?': 'A, one "more"' } })), 'too early');
  assert.equal(undelivered(typed, settled({ by: 'ana', message: 'too early' })), 'one "more"');
  const sent = { ...typed, sent: true };
  assert.equal(undelivered(sent, settled({ by: 'ana', decision: 'allow' })), '');
  assert.equal(undelivered(sent), '');
  assert.equal(undelivered(sent, settled(undefined, 'withdrawn')), 'too early\n\none "more"');
});

test('what the browser kept of a request is read without trust in it', () => {
  const nothing = { reason: '', asking: false, draft: new Map(), sent: false };
  for (const kept of ['', 'x', 'null', '7', '{"reason": 7, "asking": "yes", "draft": {}}'])
    assert.deepEqual(readTyped(kept), nothing);
  const odd = readTyped('{"draft": [["__proto__", {"picked": [1, "A"], "free": null}], 5]}');
  assert.deepEqual(
    [...odd.draft],
    [
      ['__proto__', { picked: ['A'], free: '' }],
      ['undefined', { picked: [], free: '' }],
    ],
  );
});
