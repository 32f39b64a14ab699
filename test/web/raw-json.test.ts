import { expect, test } from 'vitest';
import { RawJson, stringify } from '../../web/raw-json.ts';

test.each([
  ['numbers and duplicates as they are', '{"a": 1.0, "a": 12345678901234567890}', '{"v":{"a": 1.0, "a": 12345678901234567890}}'],
  ['half of a character as an escape, which UTF-8 cannot have', '"x\ud800y\udc00"', '{"v":"x\\ud800y\\udc00"}'],
  ['whole characters as they are', '"é😀"', '{"v":"é😀"}'],
])('a JSON text in a value is sent with %s', (_, text, expected) => {
  expect(stringify({ v: new RawJson(text) })).toBe(expected);
});
