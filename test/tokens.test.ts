import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { apiTokenProblem, containsToken, isIntact, issueToken, mayBeUserGroupToken, redactTokens } from '../src/tokens.ts';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** CRC32 as its definition has it (reflected, polynomial 0xEDB88320), by a table of the 256 bytes. */
const table = Array.from({ length: 256 }, (_, byte) => {
  let rest = byte;
  for (let bit = 0; bit < 8; bit += 1) rest = rest & 1 ? (rest >>> 1) ^ 0xedb88320 : rest >>> 1;
  return rest >>> 0;
});
function crc32(text: string): number {
  let crc = 0xffffffff;
  for (const byte of Buffer.from(text)) crc = (crc >>> 8) ^ (table[(crc ^ byte) & 0xff] ?? 0);
  return (crc ^ 0xffffffff) >>> 0;
}

/** The checksum as the contract has it: base62, big-endian, padded with zeros to six. */
function checksum(text: string): string {
  let digits = '';
  for (let rest = BigInt(crc32(text)); rest > 0n; rest /= 62n) digits = `${alphabet[Number(rest % 62n)]}${digits}`;
  return digits.padStart(6, '0');
}

/** Tokens that are given: callers and other implementations rely on them. */
const known = ['ugt_000000000000000000000000000000', 'ugk_000000000000000000000000000000', `ugt_${alphabet.slice(0, 30)}`].map(
  (body) => body + checksum(body),
);

test('the format is fixed', () => {
  expect(known).toMatchInlineSnapshot(`
    [
      "ugt_00000000000000000000000000000041p1rY",
      "ugk_0000000000000000000000000000002pqFHo",
      "ugt_0123456789ABCDEFGHIJKLMNOPQRST1fTH8T",
    ]
  `);
});

test.each(known)('%s is intact', (token) => {
  expect(isIntact(token)).toBe(true);
});

test('a token of ours has only characters of the alphabet, whatever its checksum', () => {
  for (const character of ['-', ' ', '\u0000', '\u202e', 'é']) {
    const body = `ugt_${character.repeat(30)}`;
    expect(mayBeUserGroupToken(body + checksum(body))).toBe(false);
  }
});

const kinds = fc.constantFrom('userGroup', 'apiToken');
const prefixes = fc.constantFrom('ugt_', 'ugk_');
/** Tokens of ours, as they are issued. */
const issued = kinds.map((kind) => issueToken(kind));
/** Tokens of ours, of any random part. */
const wellFormed = fc
  .tuple(prefixes, fc.string({ unit: fc.constantFrom(...alphabet), minLength: 30, maxLength: 30 }))
  .map(([prefix, random]) => prefix + random + checksum(prefix + random));

describe('an issued token', () => {
  test('has its prefix, 30 characters of the alphabet and a checksum of both', () => {
    fc.assert(
      fc.property(kinds, (kind) => {
        const token = issueToken(kind);
        expect(token).toMatch(/^ug[tk]_[0-9A-Za-z]{36}$/);
        expect(token.startsWith(kind === 'userGroup' ? 'ugt_' : 'ugk_')).toBe(true);
        expect(token.slice(-6)).toBe(checksum(token.slice(0, -6)));
      }),
    );
  });

  test('is intact and may exist', () => {
    fc.assert(
      fc.property(issued, (token) => {
        expect(isIntact(token)).toBe(true);
        if (token.startsWith('ugt_')) expect(mayBeUserGroupToken(token)).toBe(true);
        else expect(apiTokenProblem(token)).toBeUndefined();
      }),
    );
  });

  test('is never issued twice', () => {
    expect(new Set(Array.from({ length: 10_000 }, () => issueToken('userGroup'))).size).toBe(10_000);
  });

  test('has every character about as often as every other', () => {
    const counts = new Map([...alphabet].map((character) => [character, 0]));
    for (let i = 0; i < 10_000; i += 1) {
      for (const character of issueToken('userGroup').slice(4, 34)) counts.set(character, (counts.get(character) ?? 0) + 1);
    }
    const expected = (10_000 * 30) / 62;
    const chiSquared = [...counts.values()].reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
    // 61 degrees of freedom: by chance above 150 once in a hundred million runs; a byte modulo 62 would give over 2,000.
    expect(chiSquared).toBeLessThan(150);
  });
});

describe('a modified token is rejected', () => {
  test('by any single character', () => {
    const change = fc.tuple(wellFormed, fc.nat(35), fc.constantFrom(...alphabet));
    fc.assert(
      fc.property(change, ([token, index, character]) => {
        const at = 4 + index;
        fc.pre(token[at] !== character);
        expect(isIntact(token.slice(0, at) + character + token.slice(at + 1))).toBe(false);
      }),
      { numRuns: 2_000 },
    );
  });

  test('by the other prefix', () => {
    fc.assert(
      fc.property(wellFormed, (token) => {
        expect(isIntact((token.startsWith('ugt_') ? 'ugk_' : 'ugt_') + token.slice(4))).toBe(false);
      }),
    );
  });

  test('by being truncated or extended', () => {
    fc.assert(
      fc.property(wellFormed, fc.nat(39), (token, length) => {
        expect([isIntact(token.slice(0, length)), isIntact(`${token}0`), isIntact(`${token} `)]).toEqual([false, false, false]);
      }),
    );
  });
});

describe('a user group token', () => {
  test.each<[string, string, boolean]>([
    ['of 15 characters', 'x'.repeat(15), false],
    ['of 16 characters', 'x'.repeat(16), true],
    ['of 255 characters', 'x'.repeat(255), true],
    ['of 256 characters', 'x'.repeat(256), false],
    ['of 255 astral characters', '😀'.repeat(255), true],
    ['with spaces', 'an imported token', true],
    ['with a line break', 'an imported\ntoken', false],
    ['with NUL', 'an imported\0token', false],
    ['with a lone surrogate', 'an imported\ud800token', false],
    ['with our prefix and no checksum', 'ugt_an-imported-token', false],
    ['with the other prefix', 'ugk_an-imported-token', true],
    ['with our prefix in other case', 'UGT_an-imported-token', true],
  ])('%s', (_, token, may) => {
    expect(mayBeUserGroupToken(token)).toBe(may);
  });
});

describe('an API token', () => {
  test.each<[string, string, RegExp | undefined]>([
    ['of 16 characters, of the operator’s choice', 'x'.repeat(16), undefined],
    ['of 255 characters', 'x'.repeat(255), undefined],
    ['of 15 characters', 'x'.repeat(15), /16 to 255/],
    ['of 256 characters', 'x'.repeat(256), /16 to 255/],
    ['with a space', 'of the operator s choice', /spaces/],
    ['beyond ASCII', 'ü'.repeat(20), /ASCII/],
    ['with our prefix and a wrong checksum', `ugk_${'0'.repeat(36)}`, /checksum/],
    ['that is a user group token', known[0] ?? '', /user group token/],
  ])('%s', (_, secret, problem) => {
    if (problem) expect(apiTokenProblem(secret)).toMatch(problem);
    else expect(apiTokenProblem(secret)).toBeUndefined();
  });
});

describe('a text with tokens', () => {
  test('is recognized, and the secret part of each token is redacted', () => {
    fc.assert(
      fc.property(
        fc.array(issued, { minLength: 1, maxLength: 3 }),
        fc.constantFrom(' ', '/', '":"', '=', 'x-'),
        (tokens, between) => {
          const text = tokens.join(between);
          expect(containsToken(text)).toBe(true);
          const redacted = redactTokens(text);
          for (const token of tokens) expect(redacted).not.toContain(token.slice(4));
        },
      ),
    );
  });

  test('the secrets of webhooks are, too', () => {
    const [secret, token] = [`whsec_${'aZ09+/'.repeat(7)}=`, issueToken('apiToken')];
    for (const text of [secret, `${token} ${secret}`, `${secret}/${token}`, `"${secret}"`]) {
      expect(containsToken(text)).toBe(true);
      expect(redactTokens(text)).not.toMatch(/aZ|[0-9A-Za-z]{6}$/);
    }
  });

  test.each(['', 'acme', 'ugt', 'a_ugx_b'])('is not found in %j', (text) => {
    expect([containsToken(text), redactTokens(text)]).toEqual([false, text]);
  });
});
