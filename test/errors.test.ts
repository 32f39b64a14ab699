import { expect, test } from 'vitest';
import { DatabaseBusy } from '../src/database/errors.ts';
import { InvalidInput } from '../src/errors.ts';
import { asGatewayError } from '../src/failures.ts';

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

test('a busy database is UNAVAILABLE, and says that nothing was changed', () => {
  const { code, message, cause } = asGatewayError(new DatabaseBusy());
  expect({ code, message, cause }).toEqual({
    code: 'UNAVAILABLE',
    message: 'Too many requests are waiting for the database. Nothing was changed. Try again shortly.',
    cause: undefined,
  });
});
