// Run by test_pure_modules.py: what the launch window takes from a page, and what the launch button says.
import assert from 'node:assert/strict';
import test from 'node:test';
import { isLoopbackHost } from '../../src/bascule/web/element/reach.js';
import { mismatchOf, readyTitle } from '../../src/bascule/web/element/words.js';
import { beginningOf, isTrustable, requestFrom, requestInFragment } from '../../src/bascule/web/window/request.js';

/** @param {unknown} value */
const fragment = (value) => `#request=${Buffer.from(JSON.stringify(value)).toString('base64url')}`;

test('a request has known fields only, all of them texts', () => {
  const good = { prompt: 'hi', mode: 'plan', agent: 'codex', workingDirectory: '/srv' };
  assert.deepEqual(requestFrom({ ...good, type: 'bascule:launch', origin: 'https://evil.example' }).request, good);
  assert.deepEqual(requestFrom({ prompt: 'hi' }).request, { prompt: 'hi' });
  assert.deepEqual(requestFrom({ prompt: 'hi', repo: 'a/b' }).request, { prompt: 'hi', repo: 'a/b' });
  const bad = [
    null,
    'hi',
    {},
    { prompt: '' },
    { prompt: 3 },
    { prompt: 'x', mode: 'bypass' },
    { prompt: 'x', mode: 'constructor' },
    { prompt: 'x', agent: {} },
    { prompt: 'x', workingDirectory: 'x'.repeat(5000) },
    { prompt: 'x', repo: ['a/b'] },
    { prompt: 'x', repo: 'a/b', workingDirectory: '/srv' },
  ];
  for (const one of bad) {
    const { request, problem } = requestFrom(one);
    assert.equal(request, null);
    assert.match(problem, /^The page /);
  }
});

test('a request in the address is read as UTF-8, and what is none is told', () => {
  assert.deepEqual(requestInFragment(fragment({ prompt: 'naïve 🎉' }))?.request, { prompt: 'naïve 🎉' });
  assert.equal(requestInFragment(''), null);
  assert.equal(requestInFragment('#token=abc'), null);
  for (const hash of ['#request=AAAA', '#request=_w', fragment({ prompt: '' })])
    assert.equal(requestInFragment(hash)?.request, null, hash);
});

test('https and this machine can be trusted for good', () => {
  const yes = [
    'https://tool.example',
    'http://localhost:8080',
    'http://a.localhost',
    'http://127.0.0.1',
    'http://[::1]',
  ];
  const no = ['http://tool.example', 'null', '', 'http://localhost.evil.example', 'https://a@b', 'file://'];
  assert.deepEqual(yes.filter(isTrustable), yes);
  assert.deepEqual(no.filter(isTrustable), []);
  assert.deepEqual(['localhost', 'x.localhost', '127.0.0.2', '[::1]'].map(isLoopbackHost), [true, true, true, true]);
  assert.deepEqual(['localhost.x', '10.0.0.1', '127.evil.example'].map(isLoopbackHost), [false, false, false]);
});

test('a long prompt begins with its first part, and no character is halved', () => {
  assert.equal(beginningOf('x'.repeat(3000)).length, 3000);
  assert.equal(beginningOf('x'.repeat(3001)).length, 2000);
  assert.equal(beginningOf(`${'x'.repeat(1999)}🎉${'y'.repeat(2000)}`), 'x'.repeat(1999));
});

test('the tooltip names the agent and why a click is not a plain launch', () => {
  assert.equal(readyTitle('', ''), 'Launch in Claude CLI');
  assert.equal(readyTitle('codex', 'prompt'), 'Launch in codex (your browser will ask once)');
  assert.equal(mismatchOf('1.4'), '');
  assert.equal(mismatchOf(null), '');
  assert.match(mismatchOf('2.0'), /version 2\.0, this button 1\.0/);
});
