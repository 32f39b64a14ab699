import { expect, test } from 'vitest';
import { InvalidInput } from '../src/errors.ts';

test('an InvalidInput lists ten issues at most, each with a short path and message', () => {
  const long = 'x'.repeat(1_000_000);
  const { issues, message } = new InvalidInput(Array.from({ length: 1_000 }, (_, i) => ({ path: [long, i], message: long })));
  expect(issues).toHaveLength(10);
  expect(issues[9]?.path).toEqual([`${'x'.repeat(64)}…`, 9]);
  expect(message.length).toBeLessThan(12_000);
});

test('a name is not cut through the middle of a character', () => {
  const { issues } = new InvalidInput([{ path: [`${'x'.repeat(63)}😀😀`], message: 'is wrong.' }]);
  expect(String(issues[0]?.path[0]).isWellFormed()).toBe(true);
});
