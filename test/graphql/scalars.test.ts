import type { GraphQLScalarType } from 'graphql';
import { expect, test } from 'vitest';
import { schema } from '../../src/schema.ts';

const dateTime = schema.getType('DateTime') as GraphQLScalarType;

test.each([
  ['2026-01-31T12:00:00.000Z', '2026-01-31T12:00:00.000Z'],
  ['2026-01-31T12:00:00Z', '2026-01-31T12:00:00.000Z'],
  ['2026-01-31T12:00:00+02:00', '2026-01-31T10:00:00.000Z'],
  ['2026-01-31T12:00:00.123456Z', '2026-01-31T12:00:00.123Z'],
  ['2024-02-29T12:00:00Z', '2024-02-29T12:00:00.000Z'],
])('DateTime accepts %s', (text, expected) => {
  expect(dateTime.serialize(dateTime.parseValue(text))).toBe(expected);
});

test.each<[unknown, string]>([
  ['2026-01-31T12:00:00', 'no offset'],
  ['2026-01-31', 'no time'],
  ['2026', 'a year'],
  ['1', 'a number as text'],
  ['foo 1', 'a word that Date reads'],
  ['31 Jan 2026', 'another notation'],
  ['2026-02-30T12:00:00Z', 'a day that the month lacks'],
  ['2100-02-29T00:00:00Z', 'a leap day of another year'],
  ['2026-01-31T24:00:00Z', 'hour 24'],
  ['2026-01-31T12:00:00-25:00', 'an offset of more than a day'],
  [' 2026-01-31T12:00:00Z', 'a space before'],
  [1_769_860_800_000, 'a number'],
  [true, 'a boolean'],
  [{}, 'an object'],
])('DateTime rejects %j: %s', (value, _) => {
  expect(() => dateTime.parseValue(value)).toThrow('A DateTime must be ISO 8601 with an offset');
});
