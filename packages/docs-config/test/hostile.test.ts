import { expect, test } from 'vitest';
import { validate, withDefaults } from '../src/index.ts';

const navigation = '"navigation": [{"group": "a", "pages": ["b"]}]';

const levels = 100_000;

test.each([
  ['arrays', '['.repeat(levels) + ']'.repeat(levels), 'too-deep'],
  ['arrays that never end', '['.repeat(levels), 'too-deep'],
  ['objects', `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`, 'too-deep'],
  ['arrays inside a document', `{"name": "a", ${navigation}, "x": ${'['.repeat(levels)}${']'.repeat(levels)}}`, 'too-deep'],
  ['closing brackets', `${']}'.repeat(levels)}`, 'json-syntax'],
])('100,000 levels of %s are one diagnostic', (_, source, code) => {
  expect(validate(source).diagnostics).toMatchObject([{ code, severity: 'error', pointer: '' }]);
});

test('200 levels are read', () => {
  const source = (depth: number) => `{"name": "a", ${navigation}, "$schema": ${'['.repeat(depth)}${']'.repeat(depth)}}`;
  expect(validate(source(199)).diagnostics).toEqual([]);
  expect(validate(source(200)).diagnostics).toMatchObject([{ code: 'too-deep' }]);
});

test('of 100,000 diagnostics lists 1,000, errors first, of which the last says that there are more', () => {
  const source = `{"name": "a", "navigation": [{"group": "a", "pages": [${'1,'.repeat(99_999)}1]}], "extra": 1}`;
  const { errorCount, warningCount, diagnostics } = validate(source);
  expect([errorCount, warningCount, diagnostics.length]).toEqual([1001, 1, 1000]);
  expect(diagnostics.at(-1)).toMatchObject({ code: 'too-many-findings', severity: 'warning' });
  expect(diagnostics.at(-1)?.message).toContain('more than 1000');
  const full = validate(`{"name": "a", "navigation": [{"group": "a", "pages": [${'1,'.repeat(999)}1]}]}`);
  expect(full.diagnostics.map(({ code }) => code)).toEqual(Array(1000).fill('type'));
});

test('1 MB of anything is checked at once', () => {
  const many = (unit: string) => unit.repeat(1_000_000 / unit.length);
  for (const junk of [',', '"\n', '{', '\u0000', '// a\n', '<<<<<<<\n', ' ', '\\'])
    expect(validate(`{${many(junk)}}`).diagnostics.length, junk).toBeLessThanOrEqual(2);
  for (const item of ['{}', '1', '"p"']) {
    const source = `{"name": "a", "navigation": [{"group": "a", "pages": [${many(`${item},`)}${item}]}]}`;
    expect(validate(source).diagnostics).toHaveLength(1000);
  }
  const keys = Array.from({ length: 60_000 }, (_, index) => `"key${index}":1`).join();
  expect(validate(`{${keys}}`).diagnostics).toHaveLength(1000);
}, 60_000);

test('treats keys such as __proto__ as data', () => {
  const source = `{"__proto__": {"name": "evil", "polluted": 1}, "constructor": {"prototype": {"polluted": 1}}, "name": "a", ${navigation}, "logo": {"__proto__": {"href": "evil"}, "light": "a", "dark": "b"}}`;
  const config = withDefaults(validate(source));
  expect(config).toMatchObject({ name: 'a', logo: { href: '/' } });
  expect(Object.getPrototypeOf(config)).toBe(Object.prototype);
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
});

test('ends lines at \\n, \\r\\n and \\r, and counts columns in UTF-16 code units', () => {
  const { diagnostics } = validate(`{\r\n"name": "a",\r${navigation},\n"😀": 1, "favicon": 1}`);
  expect(diagnostics.map(({ range }) => [range.start.line, range.start.column])).toEqual([
    [4, 1],
    [4, 21],
  ]);
});
