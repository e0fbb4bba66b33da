// Run by test_pure_modules.py: the page's pure modules, without a browser.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { ansiPieces } from '../../src/bascule/web/js/ansi.js';
import { counts, editsIn, patchLines, textLines } from '../../src/bascule/web/js/diff.js';
import { pointBefore } from '../../src/bascule/web/js/forks.js';
import { runsOf } from '../../src/bascule/web/js/qr.js';
import { sidesOf } from '../../src/bascule/web/js/sides.js';
import { turnsOf } from '../../src/bascule/web/js/turns.js';
import {
  age,
  duration,
  endsWords,
  groupWords,
  isNear,
  isOwnPlan,
  limitTime,
  nearPath,
  sizeWords,
  toolWords,
  waited,
} from '../../src/bascule/web/js/format.js';
import { withComments } from '../../src/bascule/web/shell/composer/comments.js';
import { bySession } from '../../src/bascule/web/shell/search/hits.js';
import { commandOffers, fileOffers } from '../../src/bascule/web/shell/composer/offers.js';
import { placeOf, routeOf } from '../../src/bascule/web/shell/routes.js';
import { scopeOf, requestTitle } from '../../src/bascule/web/shell/requests/rule_scope.js';
import { groupsOf, marksOf } from '../../src/bascule/web/shell/sessions.js';
import { FIRST, filledRecord } from '../../src/bascule/web/shell/state.js';
import {
  endWords,
  pasteWords,
  skippedWords,
  whoTypes,
  whoseSize,
} from '../../src/bascule/web/shell/terminal/format.js';
import { safeTarget } from '../../src/bascule/web/terminal/links.js';
import {
  controlsIn,
  isManyLines,
  needsAsking,
  textOf,
  withoutControls,
} from '../../src/bascule/web/terminal/pasted.js';
import { pressed, withControl } from '../../src/bascule/web/terminal/pressing.js';

test('a plan outside the folder is the agent’s own, as the hub has it', () => {
  const cases = JSON.parse(readFileSync(new URL('../fixtures/own_plans.json', import.meta.url), 'utf8'));
  for (const [path, cwd, own] of cases) assert.equal(isOwnPlan(path, cwd), own, path);
});

test('a copy of a conversation ends with the turn before a message, where its agent can go back to it', () => {
  const started = (more = {}) => ({ kind: 'event', first_seq: 1, event: { type: 'session_started', ...more } });
  const prompt = (first_seq) => ({ kind: 'prompt', first_seq });
  const turn = (first_seq, fork_at) => ({ kind: 'turn', first_seq, ended: { fork_at } });
  const note = { kind: 'event', first_seq: 5, event: { type: 'note' } };
  const entries = [started(), prompt(2), turn(4, 'a'), note, prompt(6)];
  assert.deepEqual(pointBefore(entries, 4, 0), { of: null, at: 'a' });
  assert.equal(pointBefore(entries, 4, 5), null, 'it was summarised since');
  assert.deepEqual(pointBefore(entries, 1, 5), { of: null, at: null }, 'nothing is before the first');
  assert.equal(pointBefore([prompt(2), turn(4, null), prompt(6)], 2, 0), null, 'the agent gave no id');
  assert.equal(pointBefore([turn(4, 'a'), prompt(6), prompt(9)], 2, 0), null, 'a turn that never ended');
  assert.equal(pointBefore(entries.slice(3), 1, 0), undefined, 'what is before it is not here');
  const copy = { resumed_from: 'one', forked_at: 'b' };
  assert.deepEqual(pointBefore([started(copy), prompt(2)], 1, 0), { of: 'one', at: 'b' });
  assert.equal(pointBefore([started({ resumed_from: 'one' }), prompt(2)], 1, 0), null);
});

test('a patch keeps the numbers of each side', () => {
  const lines = patchLines('@@ -88,3 +88,3 @@ def f()\n same\n-old\n+new\n\\ No newline at end of file\n');
  assert.deepEqual(
    lines.map((one) => [one.kind, one.line, one.text]),
    [
      ['head', null, 'def f()'],
      ['same', 88, 'same'],
      ['del', 89, 'old'],
      ['add', 89, 'new'],
    ],
  );
});

test('a diff of two texts changes one into the other', () => {
  const words = ['a', 'b', 'c', 'a', 'b', 'd'];
  for (let n = 0; n < 200; n++) {
    const pick = () => Array.from({ length: n % 9 }, (_, at) => words[(n * 7 + at * (1 + (n % 5))) % 6]).join('\n');
    const [before, after] = [pick(), pick().split('\n').reverse().join('\n')];
    const lines = textLines(before, after);
    assert.equal(
      lines
        .filter((one) => one.kind !== 'add')
        .map((one) => one.text)
        .join('\n'),
      before,
    );
    assert.equal(
      lines
        .filter((one) => one.kind !== 'del')
        .map((one) => one.text)
        .join('\n'),
      after,
    );
  }
});

test('a last newline is not a line', () => assert.deepEqual(counts(textLines('', 'a\nb\n')), { added: 2, removed: 0 }));

test('edits are found in what a tool was given', () => {
  assert.equal(editsIn({ file_path: '/a', old_string: 'x', new_string: 'y' })[0].lines.length, 2);
  assert.equal(
    editsIn({ file_path: '/a', edits: [{ old_string: 'x', new_string: 'y' }, { new_string: 'z' }] })[0].lines.length,
    4,
  );
  assert.deepEqual(editsIn(null), []);
});

test('terminal colours become classes and every other escape goes', () => {
  const pieces = ansiPieces('\x1b[31;1mred\x1b[0m \x1b]8;;javascript:x\x1b\\link\x1b]8;;\x1b\\\x1b[2K\x07 50%\r100%');
  assert.deepEqual(
    pieces.filter((one) => one.classes.length),
    [],
  );
  assert.equal(pieces.map((one) => one.text).join(''), '100%');
  assert.deepEqual(ansiPieces('\x1b[31;1mred\x1b[0m'), [{ text: 'red', classes: ['ansi-red', 'ansi-bold'] }]);
  assert.equal(
    ansiPieces('\x1b]0;title\x07\x1bPx\x1b\\ok')
      .map((one) => one.text)
      .join(''),
    'ok',
  );
});

test('times are said as people say them', () => {
  assert.deepEqual([800, 3100, 41_000, 134_000, 3_780_000].map(duration), [
    '800 ms',
    '3.1 s',
    '41 s',
    '2 min 14 s',
    '1 h 3 min',
  ]);
  assert.deepEqual([12_000, 540_000, 7_200_000].map(waited), ['12 s', '9 min', '2 h']);
  assert.deepEqual([45, 90, 1800, 5400, 7200, 9000, 86_400, 90_061, 7 * 86_400, 180_000, 0].map(limitTime), [
    '45 s',
    '1 min 30 s',
    '30 min',
    '1 h 30 min',
    '2 h',
    '2 h 30 min',
    '24 h',
    '25 h 1 min 1 s',
    '7 days',
    '2 days 2 h',
    '0 s',
  ]);
  const now = Date.parse('2026-11-12T14:00:00Z');
  assert.deepEqual(
    ['2026-11-12T13:59:50Z', '2026-11-12T13:56:00Z', '2026-11-12T13:00:00Z', '2026-11-11T13:00:00Z'].map((at) =>
      age(at, now),
    ),
    ['now', '4 m', '1 h', '1 d'],
  );
});

test('tools are said in words', () => {
  const read = { tool_kind: 'read', name: 'Read' };
  assert.equal(
    groupWords([read, read, { tool_kind: 'search', name: 'Grep' }, { tool_kind: 'search', name: 'Grep' }]),
    'Read 2 files, searched twice',
  );
  assert.deepEqual(
    toolWords({ name: 'Edit', title: 'x', tool_kind: 'edit', input: { file_path: '/code/a/b.py' } }, '/code/a'),
    { icon: 'edit', verb: 'Edit', target: 'b.py' },
  );
  assert.equal(nearPath('/code/ab/c', '/code/a'), '/code/ab/c');
});

test('F4: the page offers a rule for the session where the server can make one', () => {
  for (const one of JSON.parse(readFileSync(new URL('../fixtures/scope.json', import.meta.url), 'utf8')))
    assert.equal(scopeOf(one.asked) !== null, one.offered, JSON.stringify(one.asked));
});

test('only what can be remembered exactly is offered for the session', () => {
  const run = (command) => scopeOf({ kind: 'execute', tool: 'Bash', input: { command } });
  assert.equal(run('make test')?.what, 'make test');
  for (const command of ['make; rm x', 'A=1 make', 'make  test', 'make $X', 'make "x"', 'make\nrm', ''])
    assert.equal(run(command), null, command);
  const edit = (path) => scopeOf({ kind: 'edit', tool: 'Edit', input: { file_path: path } });
  assert.equal(edit('/code/a.py')?.what, 'a.py');
  for (const path of ['a.py', '/code/../a.py', '/code//a.py', '/code/']) assert.equal(edit(path), null, path);
  assert.equal(scopeOf({ kind: 'plan', tool: 'ExitPlanMode', input: {} }), null);
  assert.equal(requestTitle('Demo', { kind: 'execute', tool: 'Bash' }), 'Demo wants to run a command');
});

test('A4: projects keep their order, hold what runs below them, and never what lies beside them', () => {
  const project = (path, device = 'd1') => ({ id: path, device, path, name: path.split('/').pop() });
  const session = (session_id, cwd, more = {}) => [
    session_id,
    filledRecord({ session_id, cwd, device: 'd1', updated_at: '1', phase: 'waiting', ...more }),
  ];
  const state = {
    ...FIRST,
    projects: [project('/code/zebra'), project('/code'), project('/code/zebra', 'd2')],
    sessions: Object.fromEntries([
      session('a', '/code/zebra/deep'),
      session('b', '/code/zebra', { updated_at: '3' }),
      session('c', '/code/zebras'),
      session('d', '/home'),
      session('e', '/code/zebra', { device: 'd2' }),
      session('f', '/code/zebra', { open_requests: 1 }),
      session('g', '/home', { archived: true }),
    ]),
  };
  assert.deepEqual(
    groupsOf(state).map((one) => [one.path, one.project?.device ?? null, one.sessions.map((each) => each.session_id)]),
    [
      ['/code/zebra', 'd1', ['f', 'b', 'a']],
      ['/code', 'd1', ['c']],
      ['/code/zebra', 'd2', ['e']],
      ['/home', null, ['d']],
    ],
  );
});

test('R13: a card says whether it is live, where it was begun, and its pull request', () => {
  const words = (record) => marksOf(FIRST, filledRecord(record)).map((one) => one.word);
  assert.deepEqual(words({ phase: 'running', created_by: 'Mira', pull_request: 'https://github.com/a/b/pull/218' }), [
    'Live',
    'Remote',
    'PR #218',
  ]);
  assert.deepEqual(words({ phase: 'ended', created_by: 'this machine' }), ['Local']);
  assert.deepEqual(words({ phase: 'failed' }), []);
});

test('hits of one session stand together', () => {
  const hit = (sessionId, firstSeq) => ({
    sessionId,
    firstSeq,
    title: sessionId,
    snippet: [],
    at: '',
    kind: 'text',
    archived: false,
  });
  assert.deepEqual(
    bySession([hit('a', 0), hit('b', 4), hit('a', 9)]).map((one) => [
      one.sessionId,
      one.hits.map((each) => each.firstSeq),
    ]),
    [
      ['a', [0, 9]],
      ['b', [4]],
    ],
  );
});

test('every screen has one address, and an unknown one leads to the start', () => {
  for (const route of [
    { name: 'start' },
    { name: 'inbox' },
    { name: 'list' },
    { name: 'search' },
    { name: 'session', id: 'a b/c' },
    { name: 'settings', part: 'audit' },
  ]) {
    assert.deepEqual(routeOf(placeOf(route)), route);
  }
  assert.deepEqual(routeOf('/nowhere'), { name: 'start' });
  assert.deepEqual(routeOf('/search', { q: 'heron' }), { name: 'search', q: 'heron' });
  assert.deepEqual(routeOf('/search', { q: 7 }), { name: 'search' });
});

test('S53: only http and https of a sane length are links in a terminal', () => {
  assert.equal(safeTarget('https://example.com/a b'), 'https://example.com/a%20b');
  assert.equal(safeTarget('HTTP://example.com'), 'http://example.com/');
  const others = [
    'javascript:alert(1)',
    'file:///etc/passwd',
    'vscode://file/x',
    'data:text/html,x',
    'no address',
    `https://example.com/${'x'.repeat(1_000_000)}`,
  ];
  for (const other of others) assert.equal(safeTarget(other), null, other.slice(0, 40));
});

test('the key bar speaks as a keyboard does', () => {
  assert.deepEqual(
    ['Up', 'Left'].map((key) => [pressed(key, false), pressed(key, true)]),
    [
      ['\x1b[A', '\x1bOA'],
      ['\x1b[D', '\x1bOD'],
    ],
  );
  assert.deepEqual(['c', 'C', ' ', '[', '?', '1', 'ab'].map(withControl), [
    '\x03',
    '\x03',
    '\0',
    '\x1b',
    '\x7f',
    '1',
    'ab',
  ]);
  assert.equal(pressed('nothing', false), '');
});

test('several lines, or one that ends with Enter, are asked about', () => {
  assert.deepEqual(['a', 'a\nb', 'a\r\nb', 'a\n', 'a\r', ''].map(isManyLines), [false, true, true, true, true, false]);
  assert.equal(pasteWords('a\nb\n').title, 'Paste 2 lines?');
  assert.equal(pasteWords('a\r').title, 'Paste a line that ends with Enter?');
  assert.deepEqual(
    [pasteWords('a\x1bb').title, pasteWords('a\x1bb').yes],
    ['Paste this line without 1 control character?', 'Paste without them'],
  );
  assert.match(pasteWords(`a\n${'é'.repeat(3000)}`).notes.join(' '), /A line has 6,000 bytes\./);
});

test('the foot says who types and whose size counts', () => {
  const foot = {
    line: 'live',
    readOnly: false,
    typing: '',
    size: { cols: 96, rows: 34, owner: false, by: 'Jonas', rule: 'smallest' },
    ended: null,
    skipped: 0,
    unread: 0,
  };
  assert.equal(whoseSize(foot), '96 × 34, fits Jonas’s window');
  assert.equal(whoseSize({ ...foot, size: { ...foot.size, owner: true } }), '96 × 34');
  assert.equal(whoseSize({ ...foot, size: { ...foot.size, rule: 'typing' } }), '96 × 34, size follows whoever types');
  assert.equal(
    whoTypes({ ...foot, unread: 70_000 }),
    'The program is not reading. 68 KB of what you typed waits until it does.',
  );
  assert.equal(whoTypes({ ...foot, typing: 'Jonas' }), 'Jonas is typing');
  assert.equal(whoTypes({ ...foot, readOnly: true }), 'You’re following live. You can’t type here.');
  assert.equal(
    endWords({ code: 3, signal: null, reason: 'exited', message: null }),
    'Ended with exit code 3. What it wrote is kept.',
  );
  assert.match(skippedWords(3 * 1024 * 1024), /^3\.0 MB came faster/);
});

test('two columns put what was beside what took its place', () => {
  const lines = patchLines('@@ -1,4 +1,4 @@\n same\n-old\n-gone\n+new\n tail\n+more\n');
  const rows = sidesOf(lines).map(({ left, right }) => [left?.text ?? null, right?.text ?? null]);
  assert.deepEqual(rows, [
    ['same', 'same'],
    ['old', 'new'],
    ['gone', null],
    ['tail', 'tail'],
    [null, 'more'],
  ]);
});

test('dots beside each other become one stroke', () => {
  assert.deepEqual(runsOf(['1101', '0000', '0110']), [
    [0, 0, 2],
    [3, 0, 1],
    [1, 2, 2],
  ]);
});

test('comments go with the message, each with its place', () => {
  const one = { path: 'a.py', line: 4, side: 'new', code: '  x = 1', text: 'Why?\nSay it.' };
  assert.equal(withComments('Hello', []), 'Hello');
  assert.equal(
    withComments('Hello', [one]),
    'Hello\n\nComments on the changes:\n\n- a.py:4\n  > x = 1\n  Why?\n  Say it.',
  );
  assert.ok(withComments('', [{ ...one, side: 'old' }]).startsWith('Comments on the changes:\n\n- a.py:4 (before)'));
});

test('a turn holds the files its own edits changed', () => {
  const edit = (seq, path, added) => ({
    kind: 'tool',
    status: 'done',
    first_seq: seq,
    diffs: [{ path, patch: '+x', added, removed: 1 }],
  });
  const turns = turnsOf(
    [
      edit(1, '/c/early', 1),
      { kind: 'prompt', first_seq: 2, text: 'One\nmore', at: '' },
      edit(3, '/c/a', 2),
      edit(4, '/c/a', 3),
      { kind: 'prompt', first_seq: 5, text: 'Two', at: '' },
      { ...edit(6, '/c/b', 9), status: 'failed' },
    ],
    '/c',
  );
  assert.deepEqual(
    turns.map((one) => [
      one.seq,
      one.text,
      one.files.map((file) => [file.path, file.added, file.removed, file.patches.length]),
    ]),
    [[2, 'One', [['a', 5, 2, 2]]]],
  );
});

test('files are offered after an at sign, by their letters, or level by level', async () => {
  const asked = [];
  const source = fileOffers(
    async (folder) => {
      asked.push(folder);
      return [
        { name: 'main.py', kind: 'file' },
        { name: 'domain', kind: 'folder' },
        { name: 'maps', kind: 'link' },
        { name: '.hidden', kind: 'file' },
      ];
    },
    async (letters) => (letters === 'app' ? ['src/app.py', 'my file.py'] : []),
  );
  assert.deepEqual(await source('see @app').find(), [{ label: 'app.py', note: 'src/', insert: '@src/app.py ' }]);
  assert.equal(source('mail me@example'), null);
  const hit = source('look at @src/ma');
  assert.equal(hit.from, 8);
  assert.deepEqual(
    (await hit.find()).map((one) => one.insert),
    ['@src/main.py ', '@src/domain/'],
  );
  assert.deepEqual(
    (await source('@').find()).map((one) => one.label),
    ['main.py', 'domain/'],
  );
  assert.deepEqual(asked, ['src', '']);
  assert.deepEqual(
    commandOffers(() => [{ name: 'help' }])('/he')
      .find()
      .map((one) => one.insert),
    ['/help '],
  );
});

test('ends and sizes are said as people say them', () => {
  const now = Date.parse('2026-11-12T14:00:00Z');
  assert.deepEqual(
    [null, '2026-11-13T13:00:00Z', '2026-11-12T13:00:00Z'].map((at) => endsWords(at, now)),
    ['never ends', 'ends in 23 h', 'has ended'],
  );
  assert.deepEqual([12, 2048, 100 * 1024 * 1024, 1.5 * 1024 * 1024].map(sizeWords), [
    '12 B',
    '2 KB',
    '100 MB',
    '1.5 MB',
  ]);
});

test('of a pasted text only what prints, tabs and line ends reach a terminal', () => {
  const all = Array.from({ length: 0x100 }, (_, code) => String.fromCharCode(code)).join('');
  assert.equal(withoutControls(all), `\t\n\r${all.slice(0x20, 0x7f)}${all.slice(0xa0)}`);
  assert.equal(controlsIn(all), 0x20 - 3 + 1 + 0x20);
  for (const end of ['\x1b[201~', '\x9b201~', '\x1b[20\x001~'])
    assert.ok(!/[\x1b\x9b]/.test(withoutControls(`a${end}b`)));
  assert.deepEqual(['a b\tc', 'ä€😀', 'a\x7f', 'a\x85b', '\x1b'].map(needsAsking), [false, false, true, true, true]);
  assert.equal(textOf(new TextEncoder().encode('\x1b[200~a\rb\x1b[201~')), 'a\nb');
});

test('an address of this machine’s own is told from one that others reach', () => {
  for (const host of ['localhost', '127.0.0.1', '127.0.1.1', '[::1]']) assert.ok(isNear(host), host);
  for (const host of ['tower', 'localhost.example', '127.0.0.1.example', '10.0.0.2', '[fe80::1]'])
    assert.ok(!isNear(host), host);
});
