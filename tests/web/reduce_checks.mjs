// Run by test_reduce.py: the page's fold against what Python wrote down.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import test from 'node:test';
import { endAfter, queueAfter, step, titleAfter } from '../../src/bascule/web/js/record.js';
import { filled, fold, transcript } from '../../src/bascule/web/js/reduce.js';
import { titleFrom } from '../../src/bascule/web/js/titles.js';

const folder = new URL('../fixtures/fold/', import.meta.url);
const scenes = readdirSync(folder).map((name) => [name, JSON.parse(readFileSync(new URL(name, folder), 'utf8'))]);

for (const [name, scene] of scenes) {
  test(`${name}: one event at a time`, () => {
    let state = transcript(0, [], null);
    for (const logged of scene.events) state = fold(state, [logged]);
    assert.deepEqual(state.entries, scene.entries.map(filled));
  });
  test(`${name}: all at once`, () => {
    const state = fold(transcript(0, [], null), scene.events);
    assert.deepEqual(state.entries, scene.entries.map(filled));
  });
  test(`${name}: taken up again at any point, as a page that reloads does`, () => {
    for (let cut = 0; cut <= scene.events.length; cut++) {
      const before = fold(transcript(0, [], null), scene.events.slice(0, cut));
      const page = transcript(before.seq, JSON.parse(JSON.stringify(before.entries)), null);
      // Overlapping events are passed over, so a subscription may begin too early.
      assert.deepEqual(fold(page, scene.events).entries, scene.entries.map(filled), `cut at ${cut}`);
    }
  });
  test(`${name}: phase, title and queue`, () => {
    let phase = 'starting',
      named = { title: '', titled: false },
      queue = [];
    for (const { event } of scene.events) {
      phase = step(phase, event.type);
      queue = queueAfter(queue, event);
      named = { ...named, ...titleAfter(named, event) };
    }
    assert.deepEqual([phase, named.title, queue], [scene.phase, scene.title, scene.queue]);
    const end = scene.events.reduce((record, { event }) => ({ ...record, ...endAfter(event) }), {});
    const ends = [end.ends_at ?? null, end.ends_for ?? null];
    assert.deepEqual([end.end_reason ?? null, end.attempt ?? 0, end.attempts ?? 0, ...ends], scene.end);
  });
}

test('a fold leaves the state it was given as it was', () => {
  const events = scenes[0][1].events;
  const middle = fold(transcript(0, [], null), events.slice(0, 8));
  const copy = structuredClone(middle);
  fold(middle, events.slice(8));
  assert.deepEqual(middle, copy);
});

test('changed names exactly what the batch touched', () => {
  const events = scenes.find(([name]) => name.startsWith('a_streamed'))[1].events;
  const state = fold(fold(transcript(0, [], null), events.slice(0, 7)), events.slice(7, 9));
  assert.deepEqual(state.changed, [7]);
});

test('events an entry already holds are passed over, however often they come', () => {
  for (const [name, scene] of scenes) {
    const whole = fold(transcript(0, [], null), scene.events);
    const again = fold({ ...whole, seq: 0 }, scene.events);
    assert.deepEqual(again.entries, whole.entries, name);
    assert.deepEqual(again.open, whole.open, name);
  }
});

test('away from the live end, events change what is there and begin nothing', () => {
  const scene = scenes.find(([name]) => name.startsWith('tools'))[1];
  for (let cut = 1; cut < scene.events.length; cut++) {
    const held = fold(transcript(0, [], null), scene.events.slice(0, cut));
    const away = fold({ ...held, after: held.entries.at(-1).first_seq }, scene.events.slice(cut));
    const whole = fold(held, scene.events.slice(cut));
    assert.deepEqual(away.entries, whole.entries.slice(0, held.entries.length), `cut at ${cut}`);
  }
});

test('a title is the first sentence, without markup, as the server makes it', () => {
  const cases = JSON.parse(readFileSync(new URL('../fixtures/titles.json', import.meta.url), 'utf8'));
  for (const [text, title] of cases) assert.equal(titleFrom(text), title);
});
