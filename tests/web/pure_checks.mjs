// Run by test_pure_modules.py: the page's pure modules, without a browser.
import assert from 'node:assert/strict';
import test from 'node:test';
import { ansiPieces } from '../../src/bascule/web/js/ansi.js';
import { counts, editsIn, patchLines, textLines } from '../../src/bascule/web/js/diff.js';
import { age, duration, groupWords, nearPath, toolWords, waited } from '../../src/bascule/web/js/words.js';
import { scopeOf, wishOf } from '../../src/bascule/web/shell/scope.js';

test('a patch keeps the numbers of each side', () => {
  const lines = patchLines('@@ -88,3 +88,3 @@ def f()\n same\n-old\n+new\n\\ No newline at end of file\n');
  assert.deepEqual(lines.map((one) => [one.kind, one.line, one.text]), [
    ['head', null, 'def f()'], ['same', 88, 'same'], ['del', 89, 'old'], ['add', 89, 'new']]);
});

test('a diff of two texts changes one into the other', () => {
  const words = ['a', 'b', 'c', 'a', 'b', 'd'];
  for (let n = 0; n < 200; n++) {
    const pick = () => Array.from({ length: n % 9 }, (_, at) => words[(n * 7 + at * (1 + (n % 5))) % 6]).join('\n');
    const [before, after] = [pick(), pick().split('\n').reverse().join('\n')];
    const lines = textLines(before, after);
    assert.equal(lines.filter((one) => one.kind !== 'add').map((one) => one.text).join('\n'), before);
    assert.equal(lines.filter((one) => one.kind !== 'del').map((one) => one.text).join('\n'), after);
  }
});

test('a last newline is not a line', () => assert.deepEqual(counts(textLines('', 'a\nb\n')), { added: 2, removed: 0 }));

test('edits are found in what a tool was given', () => {
  assert.equal(editsIn({ file_path: '/a', old_string: 'x', new_string: 'y' })[0].lines.length, 2);
  assert.equal(editsIn({ file_path: '/a', edits: [{ old_string: 'x', new_string: 'y' }, { new_string: 'z' }] })[0].lines.length, 4);
  assert.deepEqual(editsIn(null), []);
});

test('terminal colours become classes and every other escape goes', () => {
  const pieces = ansiPieces('\x1b[31;1mred\x1b[0m \x1b]8;;javascript:x\x1b\\link\x1b]8;;\x1b\\\x1b[2K\x07 50%\r100%');
  assert.deepEqual(pieces.filter((one) => one.classes.length), []);
  assert.equal(pieces.map((one) => one.text).join(''), '100%');
  assert.deepEqual(ansiPieces('\x1b[31;1mred\x1b[0m'), [{ text: 'red', classes: ['c-red', 'c-bold'] }]);
  assert.equal(ansiPieces('\x1b]0;title\x07\x1bPx\x1b\\ok').map((one) => one.text).join(''), 'ok');
});

test('times are said as people say them', () => {
  assert.deepEqual([800, 3100, 41_000, 134_000, 3_780_000].map(duration), ['800 ms', '3.1 s', '41 s', '2 min 14 s', '1 h 3 min']);
  assert.deepEqual([12_000, 540_000, 7_200_000].map(waited), ['12 s', '9 min', '2 h']);
  const now = Date.parse('2026-11-12T14:00:00Z');
  assert.deepEqual(['2026-11-12T13:59:50Z', '2026-11-12T13:56:00Z', '2026-11-12T13:00:00Z', '2026-11-11T13:00:00Z'].map((at) => age(at, now)), ['now', '4 m', '1 h', '1 d']);
});

test('tools are said in words', () => {
  const read = { tool_kind: 'read', name: 'Read' };
  assert.equal(groupWords([read, read, { tool_kind: 'search', name: 'Grep' }, { tool_kind: 'search', name: 'Grep' }]), 'Read 2 files, searched twice');
  assert.deepEqual(toolWords({ name: 'Edit', title: 'x', tool_kind: 'edit', input: { file_path: '/code/a/b.py' } }, '/code/a'), { icon: 'edit', verb: 'Edit', target: 'b.py' });
  assert.equal(nearPath('/code/ab/c', '/code/a'), '/code/ab/c');
});

test('only what can be remembered exactly is offered for the session', () => {
  const run = (command) => scopeOf({ kind: 'execute', tool: 'Bash', input: { command } });
  assert.equal(run('make test')?.what, 'make test');
  for (const command of ['make; rm x', 'A=1 make', 'make  test', 'make $X', 'make "x"', 'make\nrm', '']) assert.equal(run(command), null, command);
  const edit = (path) => scopeOf({ kind: 'edit', tool: 'Edit', input: { file_path: path } });
  assert.equal(edit('/code/a.py')?.what, 'a.py');
  for (const path of ['a.py', '/code/../a.py', '/code//a.py', '/code/']) assert.equal(edit(path), null, path);
  assert.equal(scopeOf({ kind: 'plan', tool: 'ExitPlanMode', input: {} }), null);
  assert.equal(wishOf('Demo', { kind: 'execute', tool: 'Bash' }), 'Demo wants to run a command');
});
