import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isExactNumber } from '../src/json.ts';

const finite = fc.double({ noNaN: true, noDefaultInfinity: true });

describe('exact', () => {
  test.each([
    '0',
    '-0',
    '0e999999',
    '1',
    '-1',
    '1.50',
    '0.1',
    '1e3',
    '9007199254740991',
    '9007199254740992',
    '1e21',
    '1.7976931348623157e308',
    '5e-324',
    '0.0000001',
    `1${'0'.repeat(300)}`,
    `0.${'0'.repeat(300)}1`,
    `1.${'0'.repeat(300)}`,
  ])('%s', (text) => {
    expect(isExactNumber(text)).toBe(true);
  });

  test('every finite double, by its own text', () => {
    fc.assert(
      fc.property(finite, (value) => {
        expect(isExactNumber(JSON.stringify(value))).toBe(true);
      }),
      { numRuns: 5_000 },
    );
  });
});

describe('not exact', () => {
  test.each([
    '1e400',
    '1.7976931348623159e308',
    '1e-400',
    '4e-324',
    '9007199254740993',
    '0.30000000000000001',
    '1.0000000000000000001',
    `1${'0'.repeat(400)}`,
    `${'9'.repeat(400)}`,
    `0.${'0'.repeat(400)}1`,
    `1${'0'.repeat(300)}1`,
  ])('%s', (text) => {
    expect(isExactNumber(text)).toBe(false);
  });
});

test('an integer is exact if, and only if, what is printed of it is the same integer', () => {
  const law = (integer: bigint) => {
    const printed = Number(integer);
    // What JSON.stringify prints, read without loss: its digits and as many zeros as its exponent says.
    const [digits = '', exponent = '0'] = JSON.stringify(printed).split('e');
    const [whole = '', fraction = ''] = digits.split('.');
    const reread = BigInt(whole + fraction) * 10n ** BigInt(Number(exponent) - fraction.length);
    expect([integer, isExactNumber(String(integer))]).toEqual([integer, reread === integer]);
  };
  fc.assert(fc.property(fc.bigInt(-(2n ** 53n), 2n ** 53n), law), { numRuns: 2_000 });
  fc.assert(fc.property(fc.bigInt(-(2n ** 70n), 2n ** 70n), law), { numRuns: 2_000 });
  fc.assert(fc.property(fc.bigInt(2n ** 53n - 100n, 2n ** 53n + 100n), law), { numRuns: 500 });
  fc.assert(
    fc.property(fc.bigInt(-999n, 999n), fc.nat(200), (digits, zeros) => law(digits * 10n ** BigInt(zeros))),
    { numRuns: 2_000 },
  );
});

test.each([
  ['zeros before a digit', `0.${'0'.repeat(500_000)}1`, false],
  ['zeros between digits', `1${'0'.repeat(500_000)}1e-500001`, false],
  ['zeros after a digit', `1.${'0'.repeat(500_000)}`, true],
  ['digits', '1'.repeat(500_000), false],
])('half a million %s are checked in time proportional to the text', (_, text, exact) => {
  // In time that grows with the square of the text it would take minutes, and the test would time out.
  expect(isExactNumber(text)).toBe(exact);
});
