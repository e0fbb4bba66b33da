// Run by test_pure_modules.py: what the parts of the page show, as functions of what the page knows.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { count, folderName, moment, money, ordinal, shortCount, tokens } from '../../src/bascule/web/js/format.js';
import { importKey, keyId, sign, signedText, tidyCode } from '../../src/bascule/web/js/start_signing.js';
import { contestantStatus, timeWords, whyNotKept } from '../../src/bascule/web/shell/compare/comparison.js';
import { FrameProgress } from '../../src/bascule/web/shell/compare/frame_progress.js';
import { besides } from '../../src/bascule/web/shell/compare/start_comparison.js';
import { placeholder, typingWords } from '../../src/bascule/web/shell/composer/format.js';
import { queueInView } from '../../src/bascule/web/shell/composer/queue.js';
import { orderAfterMove } from '../../src/bascule/web/shell/composer/queue_row.js';
import { deadLink, whenWords } from '../../src/bascule/web/shell/connection/dead_link.js';
import {
  chainWords,
  csvOf,
  isShown,
  jsonLinesOf,
  placeWords,
} from '../../src/bascule/web/shell/settings/audit_records.js';
import { answered } from '../../src/bascule/web/shell/settings/push.js';
import { browserName } from '../../src/bascule/web/shell/connection/browser_name.js';
import { linesOfText } from '../../src/bascule/web/shell/panel/file_tree.js';
import { filesIn, linesOf, scopeWords } from '../../src/bascule/web/shell/panel/known_changes.js';
import { draftOf, FIRST_DRAFT, specOf } from '../../src/bascule/web/shell/rules/draft.js';
import { NO_FILTERS, filteredHits } from '../../src/bascule/web/shell/search/filters.js';
import { pieces } from '../../src/bascule/web/shell/search/palette_rows.js';
import { movedTabs } from '../../src/bascule/web/shell/session/tabs.js';
import { exitWords, failureWords } from '../../src/bascule/web/shell/start/failed.js';
import { START_SECONDS, goingAfter } from '../../src/bascule/web/shell/start/starting.js';
import { isTooLong, taskProblem, wholeTask } from '../../src/bascule/web/shell/start/task.js';
import { leftWords } from '../../src/bascule/web/shell/start/waiting_starts.js';
import { FIRST, filledRecord } from '../../src/bascule/web/shell/state.js';
import { besideShown } from '../../src/bascule/web/shell/terminal/terminals.js';

const session = (more = {}) => filledRecord({ session_id: 's1', agent: 'demo', cwd: '/code/api', ...more });
const viewing = (more = {}) => ({
  ...FIRST,
  me: { name: 'ben', role: 'owner' },
  sessions: { s1: session() },
  route: { name: 'session', id: 's1' },
  ...more,
});

test('numbers are said as people say them', () => {
  assert.deepEqual([count(1, 'file'), count(2, 'file'), ordinal(3), ordinal(9)], ['1 file', '2 files', 'third', '9th']);
  assert.deepEqual(
    [money(0.001), money(1.5), folderName('/code/api/'), folderName('')],
    ['< $0.01', '$1.50', 'api', 'this machine'],
  );
  assert.equal(tokens(900), '900 tokens');
  assert.equal(tokens(92_176_000), '92M tokens');
  assert.equal(`${shortCount(26_000)} of ${tokens(1_000_000)}`, '26k of 1M tokens');
});

test('a moment is a time today, and a day with it before', () => {
  const now = Date.parse('2026-11-12T14:00:00Z');
  const today = moment('2026-11-12T13:59:00Z', now);
  assert.match(today, /\d/);
  assert.ok(moment('2026-11-02T13:59:00Z', now).length > today.length);
});

test('a start goes on until its agent speaks, fails, or was silent too long', () => {
  const going = { id: 's1', began: 0, error: null };
  const late = START_SECONDS * 1000 + 1;
  assert.equal(goingAfter(going, undefined, 10), going);
  assert.equal(goingAfter(going, session({ phase: 'starting' }), 10), going);
  assert.equal(goingAfter(going, session({ phase: 'waiting' }), 10), null);
  assert.equal(goingAfter(going, session({ phase: 'starting' }), late).error.code, 'START_TIMEOUT');
  const failed = goingAfter(going, session({ phase: 'failed', end_message: 'no such file' }), 10);
  assert.deepEqual(failed.error, { code: 'FAILED', message: 'no such file' });
  assert.equal(goingAfter(failed, session({ phase: 'failed' }), late), failed, 'the first reason stays');
  const slow = { ...going, error: { code: 'START_TIMEOUT' } };
  assert.equal(goingAfter(slow, session({ phase: 'running' }), late), null, 'it came after all');
});

test('a failed start says what happened and how its process ended', () => {
  assert.deepEqual(failureWords({ code: 'LIMIT_REACHED', message: 'Too many.' }, 'Demo', 'tower'), [
    'No more sessions right now',
    'Too many.',
  ]);
  const owner = { code: 'OWNER_NEEDED', message: 'tower does not let a hub do this.' };
  assert.deepEqual(failureWords(owner, 'Demo', 'tower'), [
    'tower refused it',
    'tower does not let a hub do this. Your text is kept.',
  ]);
  assert.equal(failureWords({ code: 'FAILED', message: '' }, 'Demo', 'tower')[0], 'Demo did not start');
  const failure = { code: 0, at: '2026-11-12T14:00:02Z' };
  assert.equal(exitWords('FAILED', failure, '2026-11-12T14:00:00Z'), 'ended with code 0 after 2 s');
  assert.equal(exitWords('FAILED', failure, undefined), 'ended with code 0');
  assert.equal(exitWords('START_TIMEOUT', null, undefined), `no response for ${START_SECONDS} s`);
});

test('a task is neither too short nor too long', () => {
  assert.deepEqual(
    ['', '  hello ', 'Fix the failing test', 'x'.repeat(10_001)].map((text) => [
      Boolean(taskProblem(text)),
      isTooLong(text),
    ]),
    [
      [true, false],
      [false, false],
      [false, false],
      [true, true],
    ],
  );
});

test('a long prompt goes with the task as it came, up to the size of any message', () => {
  const long = `${'x'.repeat(1_048_576 - 7)}\n\n`;
  assert.equal(wholeTask('', long), long);
  assert.equal(wholeTask(' Go ', 'a\n'), 'Go\n\na\n');
  assert.equal(wholeTask('', ''), '');
  assert.equal(taskProblem('', long), '');
  assert.equal(taskProblem('Go', long.slice(1)), '');
  assert.match(taskProblem('Gone', long), /1,048,57\d of 1,048,576 characters, with the long prompt/);
  assert.match(taskProblem('x'.repeat(10_001), long), /of 10,000 characters/);
});

test('the composer says when a message will be sent, and who else types', () => {
  const say = (more) => placeholder(viewing(), session(more));
  assert.equal(say({ phase: 'waiting' }), 'Message Demo. @ file, / command');
  assert.equal(say({ phase: 'running' }), 'Message Demo. It is sent when the turn ends.');
  assert.equal(say({ phase: 'ended', end_reason: 'disconnected' }), 'Message Demo. It is sent when the agent is back.');
  const typing = (...names) => typingWords(viewing({ presence: { s1: { viewers: [], typing: names } } }), 's1');
  assert.deepEqual(
    [typing('ben'), typing('ben', 'ana'), typing('ana', 'cem')],
    ['', 'ana is typing', 'ana, cem are typing'],
  );
});

test('the queue holds what waits with the server, and here only while the line is down', () => {
  const state = viewing({
    live: { s1: { queue: [{ prompt_id: 'p1' }] } },
    held: [
      { sessionId: 's1', key: 'k1' },
      { sessionId: 's2', key: 'k2' },
    ],
  });
  const lengths = ({ queue, held }) => [queue.length, held.length];
  assert.deepEqual(lengths(queueInView({ ...state, line: { phase: 'live' } })), [1, 0]);
  assert.deepEqual(lengths(queueInView({ ...state, line: { phase: 'lost' } })), [1, 1]);
  assert.deepEqual(lengths(queueInView({ ...state, route: { name: 'inbox' } })), [0, 0]);
  const queue = ['a', 'b', 'c'].map((prompt_id) => ({ prompt_id }));
  assert.deepEqual(orderAfterMove(queue, 'c', 0), ['c', 'a', 'b']);
  assert.deepEqual(orderAfterMove(queue, 'a', 1), ['b', 'a', 'c']);
});

test('a tab is put before or behind another', () => {
  assert.deepEqual(movedTabs(['a', 'b', 'c'], 'a', 'c', true), ['b', 'c', 'a']);
  assert.deepEqual(movedTabs(['a', 'b', 'c'], 'c', 'a', false), ['c', 'a', 'b']);
});

test('a draft of a rule and the rule it stands for are each other', () => {
  const spec = (more) => specOf({ ...FIRST_DRAFT, ...more });
  assert.deepEqual(spec({ text: 'pytest -q …' }), {
    answer: 'allow',
    toolClass: 'command',
    argv: ['pytest', '-q'],
    more: true,
  });
  assert.deepEqual(spec({ toolClass: 'edit', text: ' src/** ', folder: '/code' }), {
    answer: 'allow',
    toolClass: 'edit',
    path: 'src/**',
    folder: '/code',
  });
  assert.deepEqual(spec({ toolClass: 'mcp', text: '' }), { answer: 'allow', toolClass: 'mcp' });
  const rule = { id: 'r1', answer: 'deny', toolClass: 'command', argv: ['rm', '-rf'], more: true, agent: 'demo' };
  assert.deepEqual([draftOf(rule).text, draftOf(rule).replaces], ['rm -rf …', 'r1']);
  assert.deepEqual(specOf(draftOf(rule)), {
    answer: 'deny',
    toolClass: 'command',
    argv: ['rm', '-rf'],
    more: true,
    agent: 'demo',
  });
});

test('changed files are those of the session, of git, or of one turn', () => {
  const file = (path, source, patches = []) => ({ path, source, patches });
  const known = {
    branch: 'main',
    files: [file('a', 'session'), file('b', 'git'), file('c', 'both')],
    turns: [{ seq: 4, text: 'Fix it', files: [file('a', 'session', ['@@ -1 +1 @@\n-x\n+y\n', '@@ -9 +9 @@\n+z\n'])] }],
  };
  const paths = (scope) => filesIn(known, scope).map((one) => one.path);
  assert.deepEqual([paths('session'), paths('git'), paths(4), paths(5)], [['a', 'c'], ['b', 'c'], ['a'], []]);
  assert.deepEqual(
    ['session', 'git', 4].map((scope) => scopeWords(known, scope)),
    ['This session', 'Since the last commit, main', 'Turn: Fix it'],
  );
  const kinds = linesOf(known.turns[0].files[0]).map((one) => one.text);
  assert.equal(kinds.filter((text) => text === '⋯').length, 1, 'one mark between two edits');
  assert.deepEqual(linesOfText('a\r\nb\n'), ['a', 'b']);
  assert.deepEqual(linesOfText(''), ['']);
});

test('hits are narrowed by project, agent, time and kind; a title fits every kind', () => {
  const now = Date.parse('2026-11-12T14:00:00Z');
  const hit = (sessionId, firstSeq, kind, at = '2026-11-12T13:00:00Z') => ({ sessionId, firstSeq, kind, at });
  const state = viewing({
    sessions: { s1: session(), s2: session({ session_id: 's2', agent: 'other', cwd: '/else' }) },
  });
  const hits = [hit('s1', 1, 'prompt'), hit('s1', 0, 'title'), hit('s2', 5, 'tool', '2026-11-01T13:00:00Z')];
  const left = (only) => filteredHits(state, hits, { ...NO_FILTERS, ...only }, now).map((one) => one.firstSeq);
  assert.deepEqual(left({}), [1, 0, 5]);
  assert.deepEqual(left({ project: '/else' }), [5]);
  assert.deepEqual(left({ agent: 'demo' }), [1, 0]);
  assert.deepEqual(left({ days: 7 }), [1, 0]);
  assert.deepEqual(left({ kind: 'tool' }), [0, 5]);
  assert.deepEqual(pieces('New Session', 'ses'), ['New ', 'Ses', 'sion']);
  assert.equal(pieces('New session', ''), null);
});

test('the work of a contestant is kept when it is done, there, and changed something', () => {
  const one = { sessionId: 's1', agent: 'demo', branch: 'try/demo' };
  const done = session({ phase: 'waiting' });
  assert.equal(whyNotKept(one, done, { files: [{}] }), null);
  assert.equal(whyNotKept(one, session({ phase: 'running' }), null), 'It is still working');
  assert.equal(whyNotKept(one, done, { files: [] }), 'It changed no file');
  assert.equal(whyNotKept({ ...one, state: 'removed' }, done, null), 'Removed. The work is on try/demo.');
  assert.equal(contestantStatus(viewing(), { ...one, problem: 'no such agent' }).word, 'Not started');
  assert.equal(contestantStatus(viewing(), { ...one, sessionId: 'gone' }).word, 'Deleted');
});

test('the time of a contestant is the time it worked, without what a person took to answer', () => {
  const now = Date.parse('2026-11-12T14:01:00Z');
  const created = { created_at: '2026-11-12T14:00:00Z', updated_at: '2026-11-12T14:00:59Z' };
  const words = (more) => timeWords(session({ ...created, ...more }), now);
  const running = { phase: 'running', working_since: '2026-11-12T14:00:50Z' };
  assert.equal(words(running), '10 s so far');
  assert.equal(words({ ...running, worked_ms: 5000 }), '15 s so far', 'five seconds before the answer, ten since');
  assert.equal(words({ phase: 'running', worked_ms: 5000, open_requests: 1 }), '5 s, waiting');
  assert.equal(words({ phase: 'waiting', worked_ms: 5000 }), '5 s');
  assert.equal(words({ phase: 'ended', worked_ms: 5000 }), '5 s', 'and not longer once it was renamed');
  assert.equal(words({ phase: 'starting' }), '–');
  assert.equal(timeWords(undefined, now), '–');
});

test('a dead link says what became of it, and only an owner is offered a command', () => {
  const now = Date.parse('2026-11-17T12:00:00Z');
  const ended = (more) => ({ ended: { reason: 'revoked', at: '2026-11-13T12:00:00Z', by: 'Mira', share: 1, ...more } });
  const words = (why, shared = true, key = true) => deadLink(why, { shared, key, now });
  assert.equal(words(ended()).title, 'Mira stopped sharing this session');
  assert.equal(words(ended({ by: 'owner' })).title, 'This session is no longer shared');
  assert.equal(words(ended({ reason: 'expired' })).title, 'This link ended on Friday');
  assert.equal(words({}).title, 'This link’s key is not right');
  assert.equal(words({}, true, false).title, 'This link has no key');
  for (const why of [ended(), ended({ reason: 'expired' }), {}, null]) assert.equal(words(why).owner, false);
  assert.equal(words(ended({ share: 0 }), false).title, 'This browser’s access was revoked');
  assert.equal(words(null, false, false).title, 'This browser is not trusted here');
  for (const one of [words(ended({ share: 0 }), false), words({}, false), words(null, false, false)])
    assert.equal(one.owner, true);
  assert.equal(whenWords('2026-10-03T12:00:00Z', now), 'on October 3');
});

test('a one-time link that opens nothing says why', () => {
  const titleOf = (pair) => deadLink({ pair }, { shared: false, key: false, now: 0 }).title;
  const codes = ['LINK_USED', 'LINK_EXPIRED', 'LINK_NOT_FOUND', 'LIMIT_REACHED', 'OFFLINE'];
  assert.equal(new Set(codes.map(titleOf)).size, codes.length);
});

test('a browser is called by its maker and its system', () => {
  const phone = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_4 like Mac OS X) AppleWebKit/605.1.15 Version/18.4 Safari/604.1';
  const laptop =
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';
  assert.deepEqual([phone, laptop, 'Firefox', 'curl'].map(browserName), [
    'Safari on iPhone',
    'Chrome on Linux',
    'Firefox',
    'browser',
  ]);
});

test('a start that waits for approval goes on by what its machine says of it', () => {
  const waiting = { id: 'w1', sessionId: 's1', expiresAt: 300, state: 'waiting' };
  const going = { id: 's1', began: 0, error: null, waiting, seen: 0 };
  const late = START_SECONDS * 1000 + 1;
  assert.equal(goingAfter(going, undefined, late, waiting).error, null, 'a person may take longer than an agent');
  assert.equal(goingAfter(going, undefined, 9000).error, null, 'its machine has not said so yet');
  assert.equal(goingAfter(going, undefined, 10_001).error.code, 'START_REFUSED', 'its machine forgot it');
  const denied = goingAfter(going, undefined, 10, { ...waiting, state: 'denied', message: 'Denied on laptop.' });
  assert.deepEqual(denied.error, { code: 'START_REFUSED', message: 'Denied on laptop.' });
  assert.equal(goingAfter(denied, undefined, late), denied, 'the first reason stays');
  const approved = goingAfter(going, undefined, 200_000, { ...waiting, state: 'starting' });
  assert.deepEqual([approved.waiting, approved.began], [null, 200_000], 'the agent has its own time');
  assert.equal(goingAfter(going, session({ phase: 'starting' }), 200_000).error, null);
  assert.equal(goingAfter(going, session({ phase: 'running' }), 200_000), null);
  assert.equal(leftWords(waiting, 60_000), '4:00');
  assert.equal(leftWords(waiting, 400_000), '0:00');
});

test('the page signs what the machine checks', async () => {
  const { code, key, cases } = JSON.parse(
    readFileSync(new URL('../fixtures/start_signatures.json', import.meta.url), 'utf8'),
  );
  assert.equal(await keyId(code), key);
  for (const { device, body, at, nonce, text, mac } of cases) {
    const stamp = { key, at, nonce };
    assert.equal(await signedText(device, body, stamp), text);
    assert.deepEqual(await sign(await importKey(code), device, body, stamp), { ...stamp, mac });
  }
  assert.equal(tidyCode('o123l-56789-abcde-fghjk-mnpqr-s'), '0123156789ABCDEFGHJKMNPQRS');
  assert.equal(tidyCode('U'.repeat(26)), '');
});

test('audit records are filtered by who, what and when, the last day included', () => {
  const now = Date.parse('2026-11-17T12:00:00Z');
  const one = { n: 1, at: '2026-11-16T15:00:00Z', action: 'permission', decision: 'deny', actor: 'Mira' };
  const meets = (filter) => isShown(one, filter, now);
  assert.ok(meets({}) && meets({ who: 'Mira', what: 'Denied', since: '24' }));
  assert.ok(!meets({ who: 'Ana' }) && !meets({ what: 'Allowed' }) && !meets({ since: '1' }));
  const between = (first, last) => meets({ since: 'between', first, last });
  assert.ok(between('2026-11-16', '2026-11-16') && between('', '') && between('', '2026-11-18'));
  assert.ok(!between('2026-11-18', '') && !between('', '2026-11-14'));
});

test('an audit chain is said to hold or to be broken, and where', () => {
  assert.equal(chainWords({ ok: true, count: 1 }), 'Verified: 1 record, each follows from the one before.');
  const broken = chainWords({ ok: false, count: 56, bad: 57, problem: 'it was changed after it was written' });
  assert.match(broken, /^Broken at record 57: it was changed after it was written\. Compare /);
});

test('what came by a hub is shown as what that hub says', () => {
  assert.equal(placeWords({ address: '127.0.0.1' }), '127.0.0.1');
  assert.equal(placeWords({ address: '127.0.0.1', via: 'office' }), '127.0.0.1, reported by the hub office');
  assert.equal(placeWords({ via: 'office' }), 'no address, reported by the hub office');
});

test('an audit export runs no formula and keeps each record on its line', () => {
  const record = { action: 'input', actor: '=cmd()', detail: 'a "b",\nc', session_id: null };
  const row = { entry: { n: 7, at: '2026-11-16T15:00:00Z', record }, prev_hash: 'a', hash: 'b' };
  const [head, line, end] = csvOf([row], '-laptop').split('\r\n');
  assert.ok(head.startsWith('n,at,action,actor,grant_id,address,user_agent,') && head.endsWith(',machine'));
  assert.equal(line, `7,2026-11-16T15:00:00Z,input,'=cmd(),,,,,,,"a ""b"", c",,'-laptop`);
  assert.equal(end, '');
  assert.deepEqual(JSON.parse(jsonLinesOf([row, row]).split('\n')[1]), row);
});

test('a push service that does not answer is said to be the reason', async () => {
  await assert.rejects(answered(new Promise(() => {}), 1), /push service does not answer\. It belongs/);
  await assert.rejects(answered(Promise.reject(new Error('no')), 1000), /^Error: no$/);
  assert.equal(await answered(Promise.resolve('made'), 1000), 'made');
});

test('what comes while a page is read waits for it, and no event is fed twice', () => {
  const progress = new FrameProgress();
  const events = (...seqs) => seqs.map((seq) => ({ seq }));
  assert.deepEqual([progress.has('s1'), progress.fresh('s1', events(1))], [false, []]);
  progress.begin('s1');
  assert.equal(progress.has('s1'), true);
  assert.deepEqual(progress.fresh('s1', events(4, 5)), []);
  assert.deepEqual(progress.fresh('s1', events(6)), []);
  assert.deepEqual(progress.read('s1', 4), events(5, 6));
  assert.deepEqual(progress.fresh('s1', events(6, 7)), events(7));
  assert.deepEqual(progress.fresh('s1', events(7)), []);
  assert.deepEqual(progress.fresh('s1', events(8)), events(8));
  progress.forget('s1');
  assert.deepEqual([progress.has('s1'), progress.fresh('s1', events(9))], [false, []]);
});

test('the agents beside the first one are those that were chosen and are still there', () => {
  const [demo, codex, other] = ['demo', 'codex', 'other'].map((name) => ({ name }));
  assert.deepEqual(besides([demo, codex, other], demo, new Set(['demo', 'codex', 'gone'])), [codex]);
});

test('a terminal is beside a chat, and beside no terminal, not itself and no other screen', () => {
  const sessions = {
    s1: session(),
    t1: session({ session_id: 't1', driver: 'terminal' }),
    t2: session({ session_id: 't2', driver: 'terminal' }),
  };
  const beside = (id, more) =>
    besideShown(viewing({ sessions, beside: 't1', route: { name: 'session', id }, ...more }));
  assert.deepEqual([beside('s1'), beside('t1'), beside('t2')], ['t1', null, null]);
  assert.equal(beside('s1', { beside: null }), null);
  assert.equal(beside('s1', { beside: 's2' }), null);
  assert.equal(beside('s1', { route: { name: 'inbox' } }), null);
});
