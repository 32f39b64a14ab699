import fc from 'fast-check';
import { anyJson, jsonLiteral } from './json-values.ts';
import type { DrawnValue } from './values.ts';

/** A leaf, from its JSON and, where it is written otherwise, its literal. */
export const leaf = (json: unknown, literal = JSON.stringify(json) ?? 'null'): DrawnValue => ({ kind: 'leaf', literal, json });

/**
 * A value of a scalar.
 *
 * @param name the field or argument.
 * @param known values that mean something there.
 * @param variable draws a variable inside of a custom scalar's literal; without, there are none.
 */
export function scalar(
  type: string,
  name: string,
  known: readonly unknown[] | undefined,
  variable: ((type: string) => fc.Arbitrary<DrawnValue>) | undefined,
): fc.Arbitrary<DrawnValue> {
  switch (type) {
    case 'Boolean':
      return fc.boolean().map((json) => leaf(json));
    case 'Int':
      return fc.constantFrom(0, 1, -1, 7, 100, 2_147_483_647, -2_147_483_648, 2_147_483_648).map((json) => leaf(json));
    case 'Float':
      return fc.constantFrom(leaf(1), leaf(1.5), leaf(1, '1.0'), leaf(1000, '1e3'), leaf(-0.25, '-2.5E-1'));
    case 'ID':
      return fc.oneof(text, fc.constantFrom(leaf(5), leaf('5')));
    case 'DateTime':
      return fc.constantFrom('2026-01-31T12:00:00.000Z', '2000-01-01', 'never').map((json) => leaf(json));
    case 'JSON':
      return jsonLiteral(known, variable);
    default:
      return name === 'source' ? anyJson.map((json) => leaf(JSON.stringify(json))) : text;
  }
}

const texts = [
  '',
  'a',
  'ä€😀',
  'two\nlines',
  'a "quoted" \\ text',
  '__proto__',
  'constructor',
  'null',
  '\u2028',
  'x'.repeat(300),
];
const text: fc.Arbitrary<DrawnValue> = fc.oneof(
  fc.constantFrom(...texts).map((json) => leaf(json)),
  fc.constantFrom(
    leaf('block', '"""block"""'),
    leaf('a\n b', '"""\n  a\n   b\n  """'),
    leaf('😀', '"\\u{1F600}"'),
    leaf('"""', '"""\\""""""'),
  ),
);

/** What JSON can carry where another type is expected. */
export const wrongJson: readonly unknown[] = [
  1.5,
  true,
  [],
  {},
  'text',
  2 ** 40,
  Number.NaN,
  [null],
  { a: 1 },
  -1,
  '',
  0,
  '1',
  [[1]],
  '\ud800',
];
