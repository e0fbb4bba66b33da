// Run by test_pure_modules.py: the offers while a person types, which one is chosen and what a key means.
import assert from 'node:assert/strict';
import test from 'node:test';
import { OfferList } from '../../src/bascule/web/shell/composer/offer_list.js';

const listOf = (...inserts) => {
  const list = new OfferList();
  list.fill(
    inserts.map((insert) => ({ label: insert, note: '', insert })),
    4,
  );
  return list;
};

test('Enter chooses an offer, and sends one that is typed already', () => {
  const acts = (list, before) =>
    ['ArrowDown', 'ArrowUp', 'Tab', 'Enter', 'Escape', 'a'].map((key) => list.actOf(key, before));
  assert.deepEqual(acts(listOf('/help '), 'See /he'), [1, -1, 'choose', 'choose', 'dismiss', null]);
  assert.deepEqual(acts(listOf('/help '), 'See /help'), [1, -1, 'choose', null, 'dismiss', null]);
  assert.deepEqual(acts(listOf(), 'See /help'), [null, null, null, null, null, null]);
});

test('the chosen offer goes round, and stays chosen by its label', () => {
  const list = listOf('a', 'b', 'c');
  const at = (by) => (list.step(by), list.chosen.insert);
  assert.deepEqual([at(-1), at(1), at(1)], ['c', 'a', 'b']);
  list.fill([...list.all].reverse(), 4, 'a');
  assert.equal(list.chosen.insert, 'a');
  list.fill(list.all, 4, 'gone');
  assert.equal(list.chosen.insert, 'c');
});

test('while better offers are looked for, those stay that hold the typed letters in their order', () => {
  const left = (typed, from = 4) => {
    const list = listOf('@src/main.py ', '@notes.md ');
    return [list.narrow(from, `See ${typed}`), ...list.all.map((one) => one.insert)];
  };
  assert.deepEqual(left('@'), [false, '@src/main.py ', '@notes.md ']);
  assert.deepEqual(left('@sn'), [true, '@src/main.py ']);
  assert.deepEqual(left('@NO'), [true, '@notes.md ']);
  assert.deepEqual(left('@ms'), [true]);
  assert.deepEqual(left('@', 5), [true]);
});
