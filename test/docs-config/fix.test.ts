import { expect, test } from 'vitest';
import { applyFixes } from '../../src/docs-config/apply-fixes.ts';

test('removes a million adjacent commas in one go, and lists each at its position in the original text', () => {
  const commas = 2 ** 20;
  const { text, fixes } = applyFixes(`[${','.repeat(commas)}]`);
  expect(text).toBe('[]');
  expect(fixes).toHaveLength(commas);
  expect(fixes.at(-1)?.range.start.offset).toBe(commas);
});

test('inserts a closing quote before the comma that belongs at the same place', () => {
  const { text, fixes } = applyFixes('["a\n"b"]');
  expect(text).toBe('["a",\n"b"]');
  expect(fixes.map(({ range }) => range.start.offset)).toEqual([3, 3]);
});

test('removes an extra } and adds the comma that is missing after it', () => {
  const source = '{"name":"x","feedback":{"raiseIssue":false}}"modeToggle":{"isHidden":true}}';
  const { text } = applyFixes(source, {});
  expect(text).toBe('{"name":"x","feedback":{"raiseIssue":false},"modeToggle":{"isHidden":true}}');
  expect(applyFixes(text, {})).toEqual({ text, fixes: [] });
});
