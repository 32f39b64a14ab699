import { expect, test } from 'vitest';
import { applyFixes } from '../../src/docs-config/apply-fixes.ts';
import { printValue, validateDocsConfig } from '../../src/docs-config/validate.ts';
import { validateValue } from './documents.ts';

const navigation = '"navigation": [{"group": "a", "pages": ["b"]}]';

/** Several times what a recursive function has room for. */
const levels = 30_000;

test.each([
  ['arrays', '['.repeat(levels) + ']'.repeat(levels)],
  ['arrays that never end', '['.repeat(levels)],
  ['objects', `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`],
  ['arrays inside a document', `{"name": "a", ${navigation}, "x": ${'['.repeat(levels)}${']'.repeat(levels)}}`],
  ['groups', `{"name": "a", "navigation": ${'[{"group": "a", "pages": '.repeat(levels / 2)}[]${'}]'.repeat(levels / 2)}}`],
  ['closing brackets', `${']}'.repeat(levels)}`],
  ['objects without opening braces', `{"a": ${'b: '.repeat(levels)}${'}'.repeat(levels)}`],
  ['objects without opening braces, in quotes', `{"a": ${'"b": '.repeat(levels)}1${'}'.repeat(levels)}`],
  ['objects without opening braces or keys', `[${':=>'.repeat(levels)}${']'.repeat(levels)}`],
  ['objects without opening braces, in arrays', `{"a": ${'[{},"b": '.repeat(levels)}1${'}]'.repeat(levels)}`],
  ['objects without opening braces, in an array', `{"a": [{}, ${'"b": '.repeat(levels)}1${'}'.repeat(levels)}]}`],
])('rejects 30,000 levels of %s with a diagnostic', (_, source) => {
  const { valid, diagnostics } = validateDocsConfig(source);
  expect(valid).toBe(false);
  expect(diagnostics.length).toBeGreaterThan(0);
  expect(diagnostics.length).toBeLessThanOrEqual(1000);
});

test('rejects a value that is nested too deep or circular with a diagnostic', () => {
  let deep: unknown = [];
  for (let level = 0; level < levels; level++) deep = [deep];
  const circle: Record<string, unknown> = {};
  circle['self'] = circle;
  for (const value of [deep, { name: 'a', navigation: deep }, circle]) {
    expect(validateValue(value).diagnostics.map(({ code }) => code)).toContain('too-deep');
  }
});

test('checks a value without indentation when that would be far longer than the value', () => {
  let value: unknown = Array(50_000).fill(1);
  for (let level = 0; level < 190; level++) value = [value];
  expect(printValue({ value }).length).toBeLessThan(200_000);
  expect(validateValue({ name: 'a', navigation: [], value }).diagnostics).toMatchObject([
    { code: 'empty-value', pointer: '/navigation', range: { start: { line: 1 } } },
    { code: 'unknown-property', pointer: '/value' },
  ]);
});

test('counts 100,000 diagnostics and lists at most 1,000, of which the last states the total', () => {
  const source = `{"name": "a", "navigation": [{"group": "a", "pages": [${'1,'.repeat(99_999)}1]}]}`;
  const { errorCount, warningCount, diagnostics } = validateDocsConfig(source);
  expect([errorCount, warningCount]).toEqual([100_000, 1]);
  expect(diagnostics).toHaveLength(1000);
  expect(diagnostics.at(-1)).toMatchObject({ code: 'too-many-findings', severity: 'warning' });
  expect(diagnostics.at(-1)?.message).toContain('100000');
});

test('lists errors before warnings when there are too many; exactly 1,000 are not too many', () => {
  const keys = Array.from({ length: 2000 }, (_, index) => `"k${index}": 1`).join(', ');
  const many = validateDocsConfig(`{${keys}, "name": 1, ${navigation}}`);
  expect(many.diagnostics.filter(({ severity }) => severity === 'error')).toMatchObject([{ code: 'type', pointer: '/name' }]);
  const full = validateDocsConfig(`{"name": "a", "navigation": [{"group": "a", "pages": [${'1,'.repeat(999)}1]}]}`);
  expect(full.diagnostics).toHaveLength(1000);
  expect(full.diagnostics.map(({ code }) => code)).not.toContain('too-many-findings');
});

test('finishes on 50,000 characters of syntax errors', () => {
  for (const junk of [',', "'", '"\n', '{', ':', '\u0000', '/*', '<<<<<<<\n', '// a\n', 'a ', '“']) {
    const { valid, diagnostics } = validateDocsConfig(`{${junk.repeat(50_000 / junk.length)}}`);
    expect(valid, junk).toBe(false);
    expect(diagnostics.length, junk).toBeLessThanOrEqual(1000);
  }
});

test('applies 20,000 fixes at once', () => {
  const { text, fixCount } = applyFixes(`{"name": "a", ${navigation}, "versions": [${"'1' ".repeat(20_000)}]}`);
  expect(fixCount).toBe(39_999);
  expect(validateDocsConfig(text).valid).toBe(true);
});

test('treats keys such as __proto__ as data', () => {
  const source = `{"__proto__": {"name": "evil", "polluted": 1}, "constructor": {"prototype": {"polluted": 1}}, "name": "a", ${navigation}, "logo": {"__proto__": {"href": "evil"}, "light": "a", "dark": "b"}}`;
  const { config } = validateDocsConfig(source);
  expect(config).toMatchObject({ name: 'a', logo: { href: '/' } });
  expect(Object.getPrototypeOf(config)).toBe(Object.prototype);
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
});

test('keeps lone surrogates, and never cuts a surrogate pair in a message', () => {
  const { config } = validateDocsConfig(`{"name": "a\ud800b\\udfff", ${navigation}}`);
  expect(config?.name).toBe('a\ud800b\udfff');
  const long = validateDocsConfig(`{"name": "a", ${navigation}, "${'😀'.repeat(60)}": 1}`).diagnostics[0]?.message ?? '';
  expect(long.isWellFormed()).toBe(true);
});

test('ends lines at \\n, \\r\\n and \\r, and counts columns in UTF-16 code units', () => {
  const { diagnostics } = validateDocsConfig(`{\r\n"name": "a",\r${navigation},\n"😀": 1, "favicon": 1}`);
  expect(diagnostics.map(({ range }) => [range.start.line, range.start.column])).toEqual([
    [4, 1],
    [4, 21],
  ]);
});
