import { expect, test } from 'vitest';
import { maxOperationNames, OperationNames } from '../../src/metrics/operation-names.ts';
import { issueToken } from '../../src/tokens.ts';

test.each([
  ['no name', undefined, 'anonymous'],
  ['a name', 'Resolve', 'Resolve'],
  ['a long name', 'x'.repeat(65), 'other'],
  ['a name with a token in it', `q${issueToken('apiToken')}`, 'other'],
])('%s', (_, name, shown) => {
  expect(new OperationNames().shown(name, true)).toBe(shown);
});

test('are bounded: further ones have one name', () => {
  const names = new OperationNames();
  const shown = Array.from({ length: 3 * maxOperationNames }, (_, index) => names.shown(`Name${index}`, true));
  expect(new Set(shown).size).toBe(maxOperationNames + 1);
  expect([names.shown('Name0', true), names.shown('More', true)]).toEqual(['Name0', 'other']);
});

test('are not added by callers without an API token', () => {
  const names = new OperationNames();
  expect(names.shown('Sent', false)).toBe('other');
  names.shown('Sent', true);
  expect(names.shown('Sent', false)).toBe('Sent');
});
