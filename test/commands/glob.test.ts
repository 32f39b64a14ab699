import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ArgumentsError } from '../../src/commands/docs-config-arguments.ts';
import { compileGlob } from '../../src/commands/glob.ts';

test.each([
  ['*.json', '', ['a.json', '.json'], ['a/b.json', 'a.jsonc']],
  ['docs/*/mint.json', 'docs/', ['a/mint.json'], ['mint.json', 'a/b/mint.json']],
  ['**/mint.json', '', ['mint.json', 'a/mint.json', 'a/b/c/mint.json'], ['a/xmint.json', 'mint.json/a']],
  ['a/**', 'a/', ['b', 'b/c'], []],
  ['**/a/**/b', '', ['a/b', 'x/a/y/a/z/b'], ['a/x', 'b']],
  ['a*b*c', '', ['abc', 'axxbxxbc', 'abcbc'], ['ab', 'abcx']],
  ['a**b', '', ['ab', 'axb'], ['a/b']],
  ['m?nt.json', '', ['mint.json', 'm😀nt.json'], ['mnt.json', 'miint.json']],
  ['[a-cx].json', '', ['a.json', 'c.json', 'x.json'], ['d.json', '-.json']],
  ['[!a-c].json', '', ['d.json'], ['a.json', '.json']],
  ['[^a].json', '', ['b.json'], ['a.json']],
  ['[a].{json,md}', '', ['a.json', 'a.md'], ['a.js', '[a].json']],
  ['{a,b/{c,d}}/x', '', ['a/x', 'b/c/x', 'b/d/x'], ['b/x', 'a,b/x']],
  ['a{,b}', '', ['a', 'ab'], ['b']],
  ['a\\*b?', '', ['a*bc'], ['axbc']],
  ['\\{a,b\\}*', '', ['{a,b}', '{a,b}c'], ['a', 'b']],
  ['/top/[', '/top/', ['['], ['a']],
  ['a+(b)?.$', '', ['a+(b)x.$'], ['abx.$', 'abbx.a']],
])('compiles %s', (glob, folder, matching, others) => {
  const compiled = compileGlob(glob);
  expect(compiled.folder).toBe(folder);
  expect([...matching, ...others].filter(compiled.matches)).toEqual(matching);
});

test('matches in linear time what a regular expression would try in exponentially many ways', () => {
  const { matches } = compileGlob(`${'**/*a*a*a/'.repeat(50)}${'*a'.repeat(100)}b`);
  expect(matches(`${`${'a'.repeat(60)}/`.repeat(50)}${'a'.repeat(250)}`)).toBe(false);
});

test('rejects globs that are too long or have too many alternatives', () => {
  for (const glob of ['*'.repeat(10_001), '{a,b}'.repeat(40), `{${'a,'.repeat(6000)}}`, '{'.repeat(10_001)]) {
    expect(() => compileGlob(glob)).toThrow(ArgumentsError);
  }
});

/** Whether a name matches, by trying every length for a star. */
function matchesByTrying(name: string, glob: string): boolean {
  if (glob === '') return name === '';
  if (glob[0] === '*') return matchesByTrying(name, glob.slice(1)) || (name !== '' && matchesByTrying(name.slice(1), glob));
  return name !== '' && (glob[0] === '?' || glob[0] === name[0]) && matchesByTrying(name.slice(1), glob.slice(1));
}

test('agrees with trying every length for each star', () => {
  const text = (characters: string) => fc.string({ unit: fc.constantFrom(...characters), maxLength: 8 });
  fc.assert(
    fc.property(text('ab'), text('ab*?'), (name, glob) => {
      expect(compileGlob(glob).matches(name)).toBe(matchesByTrying(name, glob));
    }),
    { numRuns: 1000 },
  );
});
