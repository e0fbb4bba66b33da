// Run by test_pure_modules.py: the transcript's own pure modules, without a browser.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import test from 'node:test';
import { filled, fold, transcript } from '../../src/bascule/web/js/reduce.js';
import { announced } from '../../src/bascule/web/portlet/announce.js';
import { blocksOf, turnFacts } from '../../src/bascule/web/portlet/blocks.js';
import { blockEnd, leans, openFence, pieces } from '../../src/bascule/web/portlet/pieces.js';
import {
  commandOf,
  exitCode,
  fileLines,
  laidOut,
  searchResults,
  webResults,
  whatNext,
} from '../../src/bascule/web/portlet/results.js';
import { hitsIn } from '../../src/bascule/web/portlet/said.js';
import { pathIn, pathPieces } from '../../src/bascule/web/portlet/paths.js';
import { MATH } from '../../src/bascule/web/portlet/math_marks.js';
import { workWords } from '../../src/bascule/web/js/format.js';
import { MAX_ENTRIES, Window, nearest } from '../../src/bascule/web/portlet/loaded_entries.js';

const at = '2026-11-12T14:00:00Z';
const said = (seq, text = `text ${seq}`, more = {}) =>
  filled({ kind: 'text', voice: 'assistant', entry_id: `m${seq}`, first_seq: seq, last_seq: seq, at, text, ...more });
const tool = (seq, more = {}) =>
  filled({
    kind: 'tool',
    tool_id: `t${seq}`,
    name: 'Read',
    title: 'Read',
    tool_kind: 'read',
    first_seq: seq,
    last_seq: seq,
    at,
    status: 'done',
    ...more,
  });
const log = (seq, event) => ({ seq, at, event });
const page = (entries, before = null, after = null, seq = 1000) => ({ seq, entries, before, after });
const opened = (...pages) => {
  const asked = [];
  const window = new Window((place, number) => asked.push({ ...place, number }));
  window.open(page(...pages));
  return { window, asked };
};

// The window --------------------------------------------------------------------------------------------

test('x5 a window asks once for each side and joins what comes', () => {
  const { window, asked } = opened([said(50), said(60)], 50, 60);
  assert.ok(window.older());
  assert.ok(!window.older(), 'asked twice');
  assert.deepEqual(asked, [{ before: 50, number: 1 }]);
  assert.equal(window.answered(1, page([said(30), said(40)], 30)), 'older');
  assert.ok(window.newer());
  assert.equal(window.answered(2, page([said(70)], 60, null)), 'newer');
  assert.deepEqual(
    window.entries.map((one) => one.first_seq),
    [30, 40, 50, 60, 70],
  );
  assert.deepEqual([window.state.before, window.live], [30, true]);
  assert.ok(!window.newer(), 'there is nothing newer than the live end');
});

test('x5 memory stays bounded on both sides, and what was forgotten can be asked for again', () => {
  const many = Array.from({ length: MAX_ENTRIES + 200 }, (_, n) => said(n + 1));
  const up = opened(many).window;
  up.keepNear(3);
  assert.deepEqual(
    [up.entries.length, up.entries[0].first_seq, up.state.after, up.live],
    [MAX_ENTRIES, 1, MAX_ENTRIES, false],
  );
  const down = opened(many).window;
  down.keepNear(many.length);
  assert.deepEqual([down.entries.length, down.state.before, down.live], [MAX_ENTRIES, 201, true]);
});

test('x5 a page that comes after its end was forgotten leaves no hole', () => {
  const { window } = opened(
    Array.from({ length: MAX_ENTRIES + 200 }, (_, n) => said(n + 100)),
    100,
  );
  window.older();
  window.keepNear(window.entries.length);
  assert.equal(window.answered(1, page([said(98), said(99)])), null);
  assert.equal(window.entries[0].first_seq, window.state.before);
});

test('x5 a refused or overtaken question can be asked again', () => {
  const { window, asked } = opened([said(50)], 50);
  window.older();
  assert.equal(window.answered(1, null), null);
  assert.ok(window.older());
  assert.ok(window.around(7), 'a jump overtakes what was on its way');
  assert.equal(window.answered(2, page([said(40)])), null);
  assert.equal(window.answered(3, page([said(6), said(8)], 6, 8)), 'here');
  assert.deepEqual([asked.length, window.entries.map((one) => one.first_seq)], [3, [6, 8]]);
});

test('x5 events that come while a page is on its way are neither lost nor told twice', () => {
  const folder = new URL('../fixtures/fold/', import.meta.url);
  for (const name of readdirSync(folder)) {
    const { events } = JSON.parse(readFileSync(new URL(name, folder), 'utf8'));
    const whole = fold(transcript(0, [], null), events);
    for (let at1 = 1; at1 < events.length; at1 += 2) {
      const held = fold(transcript(0, [], null), events.slice(0, at1));
      if (held.entries.length < 2) continue;
      // The page is read by the server at `read`, and arrives when the frame has been told of `told`.
      for (const [read, told] of [
        [at1, events.length],
        [events.length, at1],
        [events.length, events.length],
        [Math.min(events.length, at1 + 2), events.length],
      ]) {
        const served = fold(transcript(0, [], null), events.slice(0, read));
        const { window } = opened(structuredClone(held.entries.slice(0, 1)), null, held.entries[0].first_seq, held.seq);
        window.newer();
        window.events(events.slice(at1, told));
        window.answered(1, page(structuredClone(served.entries.slice(1)), null, null, served.seq));
        window.events(events.slice(at1));
        assert.deepEqual(window.entries, whole.entries, `${name}: held ${at1}, read at ${read}, told ${told}`);
      }
    }
  }
});

test('a number finds its entry, or the one before it', () => {
  const entries = [said(10), said(20), said(30)];
  assert.deepEqual(
    [5, 10, 25, 99].map((seq) => nearest(entries, seq).first_seq),
    [10, 10, 20, 30],
  );
  const { window } = opened(entries, 10, 30);
  assert.deepEqual(
    [9, 10, 25, 30, 31].map((seq) => window.holds(seq)),
    [false, true, true, true, false],
  );
});

// Blocks ------------------------------------------------------------------------------------------------

const shape = (entries) =>
  blocksOf(entries).blocks.map(
    (block) => `${block.kind === 'group' ? 'g' : 'e'}${block.entries.map((one) => one.first_seq).join('+')}`,
  );

test('a9 calls in a row fold, failed ones and what still runs never do', () => {
  assert.deepEqual(
    shape([
      tool(1),
      tool(2),
      tool(3, { status: 'failed' }),
      tool(4),
      tool(5),
      tool(6, { status: 'running', open: true }),
    ]),
    ['g1+2', 'e3', 'g4+5', 'e6'],
  );
  assert.deepEqual(shape([tool(1), said(2), tool(3)]), ['e1', 'e2', 'e3']);
});

test('a9 an edit is the last only while nothing but a plan or a waiting request follows', () => {
  const edit = tool(1, { tool_kind: 'edit', diffs: [{ path: 'a', patch: '' }] });
  const waits = [
    tool(2, { status: 'running', open: true }),
    filled({
      kind: 'request',
      request_id: 'r',
      first_seq: 3,
      last_seq: 3,
      at,
      open: true,
      state: 'open',
      asked: { type: 'permission_requested', tool_id: 't2' },
    }),
  ];
  const plan = filled({ kind: 'plan', first_seq: 4, last_seq: 4, at, items: [] });
  assert.equal(blocksOf([edit]).blocks[0].last, true);
  assert.equal(blocksOf([edit, ...waits, plan]).blocks[0].last, true);
  assert.equal(blocksOf([edit, said(5)]).blocks[0].last, false);
  assert.deepEqual([...blocksOf([edit, ...waits]).waiting], ['t2']);
});

test('a9 what a sub-agent does stands inside its call, folded like everything else', () => {
  const agent = tool(1, { tool_kind: 'agent', name: 'Task' });
  const { blocks } = blocksOf([
    agent,
    tool(2, { parent: 't1' }),
    tool(3, { parent: 't1' }),
    said(4, 'x', { parent: 't1' }),
    said(5, 'lost', { parent: 'elsewhere' }),
  ]);
  assert.deepEqual(
    blocks.map((one) => one.key),
    ['e1', 'e5'],
  );
  assert.deepEqual(
    blocks[0].inside.map((one) => one.key),
    ['g2', 'e4'],
  );
});

test('a turn says what it changed and cost only when its beginning is there', () => {
  const edit = tool(2, {
    tool_kind: 'edit',
    diffs: [
      { path: 'a', patch: '', added: 3, removed: 1 },
      { path: 'b', patch: '', added: 1 },
    ],
  });
  const turn = (seq, cost) =>
    filled({ kind: 'turn', first_seq: seq, last_seq: seq, at, ended: { stop_reason: 'end_turn', cost_usd: cost } });
  const last = turn(5, 3);
  const facts = turnFacts([turn(1, 1), edit, said(3, 'done'), last], last, false);
  assert.deepEqual([facts.files.size, facts.said, facts.cost, facts.whole], [2, 'done', 2, true]);
  assert.deepEqual(
    [turnFacts([edit, last], last, false).cost, turnFacts([edit, last], last, false).whole],
    [null, false],
  );
  assert.equal(turnFacts([edit, last], last, true).cost, 3);
});

// Text in pieces ----------------------------------------------------------------------------------------

test('text is cut between blocks, never inside a fence or a list', () => {
  const cut = (text) => text.slice(0, blockEnd(text, 0));
  assert.equal(cut('one\n\ntwo'), 'one\n\n');
  assert.equal(cut('one\n\n'), '', 'nobody knows yet what follows');
  assert.equal(cut('- a\n\n- b\n\n  more\n\n- c'), '');
  assert.equal(cut('- a\n\nplain again, surely\n'), '- a\n\n');
  assert.equal(cut('```\na\n\nb\n'), '');
  assert.equal(cut('```\na\n\nb\n```\nrest'), '```\na\n\nb\n```\n');
  assert.equal(cut('````\n```\n\n```\n\n'), '');
  assert.equal(cut('1. a\n\n   ```\n   x\n   ```\n\n2. b'), '');
});

test('text put together from its pieces is the text, whichever way it grew', () => {
  const text =
    '# a\n\npara one\n\n- x\n\n  y\n- z\n\n```js\nlet a;\n\nlet b;\n```\n\n| a |\n|---|\n| b |\n\nend\n'.repeat(40);
  assert.equal(pieces(text, 200).join(''), text);
  assert.ok(pieces(text, 200).length > 10);
  let drawn = 0;
  const parts = [];
  for (let n = 1; n <= text.length; n += 3) {
    const end = blockEnd(text.slice(0, n), drawn);
    assert.ok(end >= drawn);
    if (end > drawn) parts.push(text.slice(drawn, end));
    drawn = end;
  }
  assert.ok(
    parts.every((part) => (part.match(/^```/gm) ?? []).length % 2 === 0),
    'a fence was cut in two',
  );
});

test('blocks that lean on each other and open fences are noticed', () => {
  assert.deepEqual(['[a]: http://x', '[^1]: note', '<div>\n\nx\n\n</div>', 'a [b](c)', '    <x>'].map(leans), [
    true,
    true,
    true,
    false,
    false,
  ]);
  assert.deepEqual(openFence('```python title=x\ndef'), { language: 'python', begins: 18 });
  assert.equal(openFence('text\n```'), null);
});

// What tools gave ---------------------------------------------------------------------------------------

test('a file keeps the numbers its tool wrote, or where it began', () => {
  assert.deepEqual(fileLines('    7→a\n    8→\tb\n', null), [
    { line: 7, text: 'a' },
    { line: 8, text: '\tb' },
  ]);
  assert.deepEqual(
    fileLines('a\nb', 41).map((one) => one.line),
    [41, 42],
  );
  assert.deepEqual(fileLines('a', null), [{ line: null, text: 'a' }]);
});

test('matches are read by file, paths alone as files, anything else not at all', () => {
  const found = searchResults('Found 3 lines\n/a/b.py:12:x = 1\n/a/b.py:14-y\n/a/c.py:1:z:3\n');
  assert.deepEqual(
    [found.matches, found.files.map((one) => [one.path, one.rows.length])],
    [
      3,
      [
        ['/a/b.py', 2],
        ['/a/c.py', 1],
      ],
    ],
  );
  assert.deepEqual(
    searchResults('src/a.js\nsrc/b.js').files.map((one) => one.path),
    ['src/a.js', 'src/b.js'],
  );
  for (const other of ['', 'No matches found', 'some words: and more of them\nin two lines'])
    assert.equal(searchResults(other), null, other);
});

test('links of a web search are found, also when the rest is cut off', () => {
  const { links, rest } = webResults(
    'Results\n\nLinks: [{"title":"A","url":"https://a.example"},{"url":"https://b.example"}]\n\nAnd words.',
  );
  assert.deepEqual(links, [
    { title: 'A', url: 'https://a.example' },
    { title: 'https://b.example', url: 'https://b.example' },
  ]);
  assert.equal(rest, 'And words.');
  assert.deepEqual(webResults('Links: [{"title":').links, []);
});

test('commands, exit codes and JSON are read in the shapes agents use', () => {
  assert.equal(commandOf({ command: ['/bin/bash', '-lc', 'make test'] }, ''), 'make test');
  assert.equal(commandOf({ command: ['git', 'status'] }, ''), 'git status');
  assert.equal(commandOf({}, 'the title'), 'the title');
  assert.deepEqual(['Exit code 2\nx', 'Error: Exit code 127', 'exit code: 1', 'all fine'].map(exitCode), [
    2,
    127,
    1,
    null,
  ]);
  assert.equal(laidOut('{"a":1}'), '{\n  "a": 1\n}');
  assert.equal(laidOut('{broken'), null);
});

test('an error comes with what to do next', () => {
  assert.match(whatNext('Invalid API key · Please run /login'), /Sign in/);
  assert.match(whatNext('API Error: 529 overloaded'), /busy/);
  assert.match(whatNext('429 rate limit'), /limit/);
  assert.match(whatNext('getaddrinfo ENOTFOUND api'), /reach/);
  assert.match(whatNext('prompt is too long'), /grown/);
  assert.equal(whatNext('something else'), 'Send a message to let it try again.');
});

// Finding and hearing -----------------------------------------------------------------------------------

test('x4 everything a reader could see is found, with and without marks of Markdown', () => {
  const entries = [
    said(1, 'a **bold word** here'),
    tool(2, { output: 'printed HERON', input: { command: 'grep heron' } }),
    tool(3, { diffs: [{ path: 'x/heron.py', patch: '+wing' }] }),
  ];
  assert.deepEqual(hitsIn(entries, 'bold word here'), [1]);
  assert.deepEqual(hitsIn(entries, 'Heron'), [2, 3]);
  assert.deepEqual(hitsIn(entries, 'wing'), [3]);
});

test('finished blocks are announced, tokens are not', () => {
  const state = {
    ...transcript(
      9,
      [said(1, 'half', { open: true }), said(2, '**whole**'), tool(3, { status: 'failed', title: 'Run x' })],
      null,
    ),
    changed: [1, 2, 3],
  };
  assert.equal(announced(state), 'whole. Run x failed');
  assert.equal(announced({ ...state, changed: [1] }), '');
});

test('events begin entries at the live end', () => {
  const { window } = opened([said(1)], null, null, 1);
  window.events([
    log(2, { type: 'entry_opened', entry_id: 'n', kind: 'assistant' }),
    log(3, { type: 'text_appended', entry_id: 'n', kind: 'assistant', text: 'new' }),
  ]);
  assert.deepEqual(
    window.entries.map((one) => one.text),
    ['text 1', 'new'],
  );
  assert.deepEqual(window.state.changed, [2]);
});

test('a path with a line is found in a sentence, and an address is left alone', () => {
  const found = (text) => pathPieces(text).filter((one) => typeof one !== 'string');
  assert.deepEqual(found('See src/app.py:12, then ./a-b/c_d.test.ts:3:9.'), [
    { text: 'src/app.py:12', path: 'src/app.py', line: 12 },
    { text: './a-b/c_d.test.ts:3:9', path: './a-b/c_d.test.ts', line: 3 },
  ]);
  assert.deepEqual(found('main.go:7 is it'), [{ text: 'main.go:7', path: 'main.go', line: 7 }]);
  assert.deepEqual(found('http://127.0.0.1:8080/a.html:3 and 12:30 and v1.2:3 and src/app.py'), []);
  assert.equal(
    pathPieces('a src/x.py:1 b')
      .map((one) => one.text ?? one)
      .join(''),
    'a src/x.py:1 b',
  );
  assert.deepEqual(pathIn('src/app.py'), { path: 'src/app.py', line: 0 });
  assert.deepEqual(pathIn('app.py:4'), { path: 'app.py', line: 4 });
  for (const word of ['app.py', 'e.g.', 'a/b', 'x = y.z', 'obj.method', 'and/or']) assert.equal(pathIn(word), null);
});

test('a formula is told apart from prices, variables and code', () => {
  const inline = MATH.find((one) => one.level === 'inline');
  const text = (source) => inline.tokenizer(source)?.text;
  assert.equal(text('$\\pi r^2$ is'), '\\pi r^2');
  assert.equal(text('\\(a \\le b\\) is'), 'a \\le b');
  assert.equal(text('$x$'), 'x');
  for (const other of ['$5 or $10', '$HOME and $PATH', '$ 5 $', '$a and b$', '$100$'])
    assert.equal(text(other), undefined, other);
  const block = MATH.find((one) => one.level === 'block');
  assert.equal(block.tokenizer('$$\n\\frac{1}{2}\n$$\n').text, '\\frac{1}{2}');
  assert.equal(block.tokenizer('$$ $$'), undefined);
  assert.ok(!inline.renderer({ text: '<img src=x>' }).includes('<img'));
});

test('the time a person took is not counted as work', () => {
  assert.equal(workWords(17_300, 17_000), '300 ms · waited 17 s');
  assert.equal(workWords(4000, 0), '4 s');
  assert.equal(workWords(400, 0), '');
  const asked = filled({
    kind: 'request',
    first_seq: 3,
    last_seq: 4,
    at,
    request_id: 'r',
    state: 'answered',
    asked: { type: 'permission_requested', tool_id: 't2' },
    settled_at: '2026-11-12T14:00:17Z',
  });
  assert.equal(blocksOf([tool(2, { tool_id: 't2' }), asked]).waits.get('t2'), 17_000);
  const end = filled({ kind: 'turn', first_seq: 5, last_seq: 5, at, ended: { stop_reason: 'end_turn' } });
  assert.equal(turnFacts([asked, end], end, true).waited, 17_000);
});

test('only a plan that an agent keeps for itself is no change of the project', () => {
  const edit = (seq, path) =>
    tool(seq, { tool_kind: 'edit', diffs: [{ path, patch: '@@ -1 +1 @@\n-a\n+b\n', added: 1, removed: 1 }] });
  const end = filled({ kind: 'turn', first_seq: 9, last_seq: 9, at, ended: { stop_reason: 'end_turn' } });
  const entries = [
    edit(1, '/home/you/.claude/plans/p.md'),
    edit(2, '/code/api/a.py'),
    edit(3, 'b.py'),
    edit(4, '/etc/hosts'),
    edit(5, '/home/you/.bashrc'),
    edit(6, '/home/you/.ssh/../.claude/plans/../plans/k.md'),
    end,
  ];
  assert.deepEqual([...turnFacts(entries, end, true, '/code/api').files.keys()].sort(), [
    '/code/api/a.py',
    '/etc/hosts',
    '/home/you/.bashrc',
    '/home/you/.ssh/../.claude/plans/../plans/k.md',
    'b.py',
  ]);
});
