import { expect, test } from 'vitest';
import { ResponseMeter } from '../../src/graphql/field-plugin.ts';
import { graphqlLimits } from '../../src/graphql/limits.ts';

const { maxResponseBytes } = graphqlLimits;

test.each([
  ['a small response', 10_000, 0, undefined],
  ['a large response with room', 100_000, 100_000, undefined],
  ['a large response without room', 100_000, 99_999, 'UNAVAILABLE'],
  ['a response above the limit', maxResponseBytes + 1, maxResponseBytes, 'QUERY_TOO_COSTLY'],
])('%s: %i bytes where there is room for %i', (_, bytes, room, expected) => {
  const meter = new ResponseMeter(() => room);
  meter.addLeaf('x'.repeat(bytes));
  expect(meter.isExceeded ? meter.rejection.code : undefined).toBe(expected);
});

test('what was left out for want of room stays missing when there is room again, until the execution is repeated', () => {
  let room = 0;
  const meter = new ResponseMeter(() => room);
  meter.addLeaf('x'.repeat(100_000));
  expect(meter.isExceeded).toBe(true);
  room = maxResponseBytes;
  expect(meter.isExceeded).toBe(true);
  meter.reset();
  expect(meter.isExceeded).toBe(false);
});
