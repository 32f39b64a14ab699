import fc from 'fast-check';
import { expect, test } from 'vitest';
import { applyFixes } from '../../src/docs-config/apply-fixes.ts';
import { codes } from '../../src/docs-config/rules/registry.ts';

/** Only the syntax: rules change strings by intention. */
const syntaxOnly = {
  severities: Object.fromEntries(codes.filter((code) => code !== 'json-syntax').map((code) => [code, 'off' as const])),
};

/** Strings that look like something else than strings. */
const strings = fc
  .array(
    fc.constantFrom('"', '"', '[', ']', '{', '}', '//', '//', '/*', '*/', '#', ',', ':', ' ', ' ', '\\', "'", 'w', 'x1', 'é'),
    {
      minLength: 1,
      maxLength: 8,
    },
  )
  .map((pieces) => pieces.join(''));

const { document } = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 3 }, { weight: 4, arbitrary: strings }, fc.constantFrom(1, true, null), tie('list'), tie('object')),
  list: fc.array(tie('value'), { maxLength: 4 }),
  object: fc.dictionary(strings, tie('value'), { maxKeys: 4 }),
  document: fc.dictionary(strings, tie('value'), { minKeys: 1, maxKeys: 4 }),
}));

const layouts = fc.constantFrom<(value: unknown) => string>(
  (value) => JSON.stringify(value),
  (value) => JSON.stringify(value, null, 2),
  (value) => JSON.stringify(value, null, 1).replaceAll(/\n */g, ' '),
  (value) => JSON.stringify(value, null, 1).replaceAll(/,\n */g, ', '),
);

/** Documents, with a place and what is mistyped there. */
const mistyped = fc.record({
  source: fc.tuple(document, layouts).map(([value, print]) => print(value)),
  place: fc.nat(),
  inserted: fc.constantFrom('', '', '', ...'"\\,:[]{}\'`”;= '),
  isReplaced: fc.boolean(),
});

/** The strings of a JSON text, as they are written, with where. */
function stringsIn(source: string): { start: number; end: number; text: string }[] {
  return [...source.matchAll(/"(?:[^"\\]|\\.)*"/g)].map(({ 0: text, index: start }) => ({
    start,
    end: start + text.length,
    text,
  }));
}

test('--fix changes no string but the one that is mistyped', () => {
  let changed = 0;
  fc.assert(
    fc.property(mistyped, ({ source, place, inserted, isReplaced }) => {
      const at = place % (source.length + 1);
      const end = at + (isReplaced || inserted === '' ? 1 : 0);
      const broken = source.slice(0, at) + inserted + source.slice(end);
      const { text } = applyFixes(broken, syntaxOnly);
      if (text === broken) return;
      changed++;
      for (const string of stringsIn(source)) {
        if (end <= string.start || at >= string.end) expect(text, `${broken}\n${text}`).toContain(string.text.slice(1, -1));
      }
    }),
    { seed: 1, numRuns: 10_000 },
  );
  expect(changed).toBeGreaterThan(100);
}, 60_000);
