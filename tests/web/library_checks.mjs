// Run by test_pure_modules.py: the pure modules of the prompt library, without a browser.
import assert from 'node:assert/strict';
import test from 'node:test';
import { checkedDelta, plainDelta } from '../../src/bascule/web/js/delta_check.js';
import { after, fieldsOf, filled, firstValue, namesIn, problemWith } from '../../src/bascule/web/js/template.js';
import { blocksFor, blocksOf } from '../../src/bascule/web/shell/library/contexts.js';
import {
  isEmpty,
  isSame,
  newContent,
  readDraft,
  savable,
  titleFrom,
  wholeContent,
  withField,
} from '../../src/bascule/web/shell/library/draft.js';
import { promptOffers } from '../../src/bascule/web/shell/library/prompt_offers.js';
import { usable } from '../../src/bascule/web/shell/library/prompts.js';

const field = (name, kind = 'text', more = {}) => ({ name, kind, hint: '', choices: [], default: '', ...more });
const prompt = (id, more = {}) => ({ id, title: id, kind: 'prompt', tags: [], contexts: [], always: false, ...more });

test('fields are found by their braces, each once, in order', () => {
  for (const [text, names] of [
    ['{{a}} and {{ b c }} and {{a}}', ['a', 'b c']],
    ['{{größe}} {{x-1}} {{v1.2}}', ['größe', 'x-1', 'v1.2']],
    ['{{}} {{ }} {{{a}}} {{-x}} {{a\nb}} {{"x"}} {a}', ['a']],
    [`{{${'n'.repeat(64)}}} {{${'m'.repeat(65)}}}`, ['n'.repeat(64)]],
    ['no field', []],
  ])
    assert.deepEqual(namesIn(text), names, text);
  assert.equal(namesIn(Array.from({ length: 200 }, (_, n) => `{{f${n}}}`).join('')).length, 100);
});

test('a field that nobody described is a text', () => {
  const described = [field('b', 'number'), field('gone', 'code')];
  assert.deepEqual(fieldsOf('{{a}} {{b}}', described), [field('a'), field('b', 'number')]);
});

test('values take the places of their fields, and nothing else changes', () => {
  const fields = [field('a'), field('n', 'number'), field('m', 'choices'), field('raw', 'literal')];
  const values = { a: 'x $& {{n}}', n: ' 3 ', m: ['one', 'two'], raw: 'never' };
  const text = '{{a}}|{{ n }}|{{m}}|{{raw}}|{{other}}';
  assert.equal(filled(text, fields, values), 'x $& {{n}}|3|one, two|{{raw}}|{{other}}');
  assert.equal(filled('{{a}} {{m}}', fields, { a: '', m: [] }), '{{a}} {{m}}');
});

test('code alone on its line is fenced, longer than any fence in it; in a line it is not', () => {
  const fields = [field('c', 'code')];
  assert.equal(filled('Fix:\n{{c}}\nThanks', fields, { c: 'a = 1\n' }), 'Fix:\n```\na = 1\n```\nThanks');
  assert.equal(filled('{{c}}', fields, { c: '```\nx\n```' }), '````\n```\nx\n```\n````');
  assert.equal(filled('Run {{c}} now', fields, { c: 'ls' }), 'Run ls now');
});

test('what is wrong with a value is said in words', () => {
  assert.equal(problemWith(field('a'), 'x'), '');
  assert.equal(problemWith(field('a'), '  '), 'a is empty.');
  assert.equal(problemWith(field('a', 'choices'), []), 'a is empty.');
  assert.equal(problemWith(field('a', 'literal'), undefined), '');
  for (const good of ['1', '-2.5', '.5', '1e3', ' 7 ']) assert.equal(problemWith(field('a', 'number'), good), '', good);
  for (const bad of ['one', '1,5', '0x10', 'NaN'])
    assert.equal(problemWith(field('a', 'number'), bad), 'a is not a number.', bad);
});

test('a field begins with its default, if that is one of its choices', () => {
  assert.equal(firstValue(field('a', 'text', { default: 'x' })), 'x');
  assert.equal(firstValue(field('a', 'choice', { default: 'x', choices: ['y'] })), '');
  assert.deepEqual(firstValue(field('a', 'choices', { default: 'y, z, q', choices: ['y', 'z'] })), ['y', 'z']);
});

test('context blocks stand before a prompt, an empty line between each', () => {
  assert.equal(after(['\nOne\n\n', '', 'Two\n'], 'Three\n'), 'One\n\nTwo\n\nThree');
  const prompts = [
    prompt('p', { contexts: ['c2', 'gone', 'c1'] }),
    prompt('c1', { kind: 'context' }),
    prompt('c2', { kind: 'context', projectId: 'x' }),
    prompt('all', { kind: 'context', always: true }),
    prompt('other', { kind: 'context', always: true, projectId: 'y' }),
  ];
  assert.deepEqual(blocksOf(prompts, prompts[0]), ['all', 'c2', 'c1']);
  assert.deepEqual(
    blocksFor(prompts, 'x').map((one) => one.id),
    ['c2', 'all', 'c1'],
  );
  assert.deepEqual(blocksOf(null, { contexts: ['c1'] }), []);
});

test('a document from the frame is made anew of what is allowed, or refused', () => {
  const good = { ops: [{ insert: 'a', attributes: { bold: true, header: 1, link: 'x', y: null } }, { insert: '\n' }] };
  assert.deepEqual(checkedDelta(good), good);
  assert.deepEqual(checkedDelta({ ops: [] }), { ops: [{ insert: '\n' }] });
  for (const bad of [
    null,
    {},
    { ops: 'x' },
    { ops: [{ retain: 1 }] },
    { ops: [{ insert: '' }] },
    { ops: [{ insert: 1 }] },
    { ops: [{ insert: 'a', extra: 1 }] },
    { ops: [{ insert: 'a', attributes: { on: { click: 1 } } }] },
    { ops: [{ insert: { image: { x: 1 } } }] },
    { ops: [{ insert: ['a'] }] },
    { ops: [{ insert: 'a'.repeat(1_048_577) }] },
    { ops: Array.from({ length: 50_001 }, () => ({ insert: 'a' })) },
  ])
    assert.equal(checkedDelta(bad), null, JSON.stringify(bad)?.slice(0, 60));
});

test('a draft is the same whoever wrote its parts, and differs by any of them', () => {
  const one = newContent({ title: 'T', delta: plainDelta('x') });
  const { delta, ...rest } = one;
  assert.ok(isSame(one, { delta: structuredClone(delta), ...rest }));
  assert.ok(isSame(one, wholeContent({ title: 'T', delta: plainDelta('x') })));
  for (const other of [{ title: 'U' }, { tags: ['a'] }, { always: true }, { contexts: ['c'] }, { projectId: 'p' }])
    assert.ok(!isSame(one, { ...one, ...other }), JSON.stringify(other));
  assert.ok(!isSame(one, { ...one, fields: [field('a')] }));
  assert.ok(!isSame(one, { ...one, delta: { ops: [{ insert: 'x', attributes: { bold: true } }, { insert: '\n' }] } }));
  assert.ok(isEmpty(newContent()));
  assert.ok(!isEmpty(newContent({ delta: plainDelta('x') })));
});

test('a prompt without a name is named by how it begins', () => {
  for (const [text, title] of [
    ['\n\n## Review this\nmore', 'Review this'],
    ['- [ ] do', '[ ] do'],
    ['   ', 'Untitled'],
    ['x'.repeat(100), `${'x'.repeat(79)}…`],
  ])
    assert.equal(titleFrom(text), title);
  const saved = savable(newContent({ tags: [' a ', 'a', ''], always: true, delta: plainDelta('Hello') }));
  assert.deepEqual([saved.title, saved.tags, saved.always], ['Hello', ['a'], false]);
});

test('what this browser kept is a draft or nothing', () => {
  const kept = { base: 3, content: newContent({ title: 'T', delta: plainDelta('x') }) };
  assert.deepEqual(readDraft(JSON.stringify(kept)), kept);
  for (const bad of [null, '', '{', '[]', '{"base":1}', JSON.stringify({ ...kept, base: 'x' })])
    assert.equal(readDraft(bad), null, String(bad));
});

test('a described field takes the place of what it was', () => {
  assert.deepEqual(withField([field('a'), field('b')], field('a', 'code')), [field('b'), field('a', 'code')]);
});

test('prompts are offered after the commands of the agent, by title and tag', async () => {
  const zoo = { title: 'Review it', tags: ['zoo'], favourite: true };
  const prompts = [prompt('1', { title: 'Zebra' }), prompt('2', zoo)];
  assert.deepEqual(
    usable([...prompts, prompt('3', { kind: 'context', title: 'z' })], 'z').map((one) => one.title),
    ['Review it', 'Zebra'],
  );
  const chosen = [];
  const commands = () => ({ from: 0, find: () => [{ label: '/zap', note: '', insert: '/zap ' }] });
  const source = promptOffers(
    commands,
    async () => prompts,
    (id) => chosen.push(id),
  );
  const found = await source('/z')?.find();
  assert.deepEqual(
    found?.map((one) => one.label),
    ['/zap', 'Review it', 'Zebra'],
  );
  found?.[1].run?.();
  assert.deepEqual(chosen, ['2']);
  for (const other of ['z', 'a /z', '/etc/z', '/z\n']) assert.equal(source(other), null, other);
});
