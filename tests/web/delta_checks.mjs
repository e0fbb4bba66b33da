// Run by test_pure_modules.py: Quill Deltas, by the fixtures that hold the Python converter to the same results.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { deltaToMarkdown, deltaToText } from '../../src/bascule/web/js/delta.js';

const cases = JSON.parse(readFileSync(new URL('../fixtures/delta.json', import.meta.url), 'utf8'));
const MIB = 1024 * 1024;

for (const one of cases) {
  test(one.name, () => {
    if (one.error) {
      for (const make of [deltaToText, deltaToMarkdown])
        assert.throws(() => make(one.delta), { name: 'TypeError', message: one.error });
      return;
    }
    assert.equal(deltaToText(one.delta), one.text);
    assert.equal(deltaToMarkdown(one.delta), one.markdown);
  });
}

test('a mebibyte in one line and in many is read whole', () => {
  const bold = { bold: true };
  const blanks = [
    { insert: 'a', attributes: bold },
    { insert: ' '.repeat(MIB), attributes: bold },
  ];
  assert.equal(deltaToMarkdown(blanks), `**a**${' '.repeat(MIB)}`);
  const lines = [{ insert: 'x' }, { insert: '\n'.repeat(MIB), attributes: { 'code-block': true } }];
  assert.equal(deltaToMarkdown(lines), `\`\`\`\nx${'\n'.repeat(MIB)}\`\`\`\n`);
  assert.equal(deltaToText(lines).length, MIB + 1);
});
