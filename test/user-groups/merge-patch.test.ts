import { expect, test } from 'vitest';
import { applyMergePatch } from '../../src/json.ts';

/** The examples of RFC 7396, appendix A: target, patch, result. */
const examples = `
  {"a":"b"}            {"a":"c"}                   {"a":"c"}
  {"a":"b"}            {"a":null}                  {}
  {"a":"c"}            {"a":["b"]}                 {"a":["b"]}
  {"a":{"b":"c"}}      {"a":{"b":"d","c":null}}    {"a":{"b":"d"}}
  {"a":[{"b":"c"}]}    {"a":[1]}                   {"a":[1]}
  {"a":"b"}            ["c"]                       ["c"]
  {"a":"foo"}          null                        null
  {"e":null}           {"a":1}                     {"e":null,"a":1}
  [1,2]                {"a":"b","c":null}          {"a":"b"}
  {}                   {"a":{"bb":{"ccc":null}}}   {"a":{"bb":{}}}`
  .trim()
  .split('\n')
  .map((line) => line.trim().split(/\s{2,}/) as [string, string, string]);

test.each(examples)('%s patched with %s is %s', (target, patch, result) => {
  const [targetValue, patchValue] = [JSON.parse(target), JSON.parse(patch)];
  expect(JSON.stringify(applyMergePatch(targetValue, patchValue))).toBe(result);
  expect([targetValue, patchValue]).toEqual([JSON.parse(target), JSON.parse(patch)]); // neither is changed
});

test('members keep their places, and new ones follow', () => {
  const patched = applyMergePatch({ z: 1, y: { q: 1, p: 2 }, x: 3 }, { a: 0, y: { p: null, o: 3 }, z: 9 });
  expect(JSON.stringify(patched)).toBe('{"z":9,"y":{"q":1,"o":3},"x":3,"a":0}');
});

test('a member __proto__ is data', () => {
  const patched = applyMergePatch({}, JSON.parse('{"a":{"__proto__":{"polluted":true}}}'));
  expect(JSON.stringify(patched)).toBe('{"a":{"__proto__":{"polluted":true}}}');
  expect('polluted' in (patched as { a: object }).a).toBe(false);
});
