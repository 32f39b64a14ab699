import { expect, test } from 'vitest';
import { applyFixes } from '../../src/docs-config/apply-fixes.ts';

test('removes 100,000 adjacent commas in one go, and lists the first 1,000 at their positions in the original text', () => {
  const commas = 100_000;
  const { text, fixes, fixCount } = applyFixes(`{"tabs":[${','.repeat(commas)}]}`);
  expect(text).toBe('{"tabs":[]}');
  expect(fixCount).toBe(commas);
  expect(fixes.map(({ range }) => range.start.offset)).toEqual(Array.from({ length: 1000 }, (_, index) => 9 + index));
});

test('inserts a closing quote before the comma that belongs at the same place', () => {
  const { text, fixes } = applyFixes('{"a":["b\n"c"]}');
  expect(text).toBe('{"a":["b",\n"c"]}');
  expect(fixes.map(({ range }) => range.start.offset)).toEqual([8, 8]);
});

test('adds an opening quote to several words only where their closing quote shows what belongs together', () => {
  expect(applyFixes('{"name": Acme Inc."}').text).toBe('{"name": "Acme Inc."}');
  expect(applyFixes('{"name": Acme Inc.}').fixes).toEqual([]);
});

test.each([
  [['hn', 'ycombinator'], null],
  [['x', 'x.com'], null],
  [
    ['x', 'Twitter'],
    ['x', 'twitter'],
  ],
  [
    ['x', 'hn'],
    ['twitter', 'hacker-news'],
  ],
])('of the platforms %j, no two get the same key', (platforms, fixed) => {
  const source = (keys: readonly string[]) =>
    JSON.stringify({ footerSocials: Object.fromEntries(keys.map((key) => [key, `https://${key}.test`])) });
  const { text } = applyFixes(source(platforms));
  const keys = Object.keys(JSON.parse(text).footerSocials);
  expect(keys).toEqual(fixed ?? platforms);
});

test.each([
  ['a README, whose headings look like comments', "# Acme\n\nSends `{token}` to:\n\n- [docs](https://acme.test), 'daily',\n"],
  ['a program', "// settings\nmodule.exports = {'name': 'Acme',};\n"],
  ['text without any value', '# name: Acme\n'],
  ['a list', "['Acme',,]"],
])('changes nothing in %s', (_, text) => {
  expect(applyFixes(text)).toEqual({ text, fixes: [], fixCount: 0 });
});
