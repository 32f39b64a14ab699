import { createHmac, hkdfSync, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  DecryptionError,
  generateEncryptionKey,
  KeyRing,
  maxEncryptionKeys,
  parseEncryptionKeys,
} from '../../src/encryption/keys.ts';

const [first, second] = [randomBytes(32), randomBytes(32)];
const place = { column: 'user_group.token_encrypted', row: randomBytes(20) };
const texts = fc.string({ unit: 'grapheme', maxLength: 600, size: 'max' });

describe('the keyed hash', () => {
  const derived = (key: Buffer, purpose: string, bytes: number) =>
    Buffer.from(hkdfSync('sha256', key, '', `user-group-gateway ${purpose}`, bytes));

  test('is the id of the key and 16 bytes of HMAC-SHA256, both derived from the key by HKDF', () => {
    const ring = new KeyRing([first]);
    fc.assert(
      fc.property(texts, (text) => {
        const hmac = createHmac('sha256', derived(first, 'keyed hash', 32))
          .update(text)
          .digest('hex');
        expect(ring.hash(text)).toBe(derived(first, 'id', 4).toString('hex') + hmac.slice(0, 32));
      }),
    );
  });

  test('is taken under every key, the first one first', () => {
    const [one, two] = [new KeyRing([first]), new KeyRing([second])];
    expect(new KeyRing([second, first]).hashes('a token')).toEqual([two.hash('a token'), one.hash('a token')]);
    expect(new KeyRing([second, first]).hash('a token')).toBe(two.hash('a token'));
  });
});

describe('encryption', () => {
  const ring = new KeyRing([first]);

  test('gives any text back in its place, and never the same bytes twice', () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(texts, (text) => {
        const encrypted = ring.encrypt(place, text);
        expect(ring.decrypt(place, encrypted)).toBe(text.toWellFormed());
        seen.add(encrypted.toString('hex'));
      }),
      { numRuns: 300 },
    );
    expect(seen.size).toBe(300);
  });

  test('stores the id of the key, a nonce, the ciphertext and a tag, and no part of the text', () => {
    const encrypted = ring.encrypt(place, 'ugt_secret-secret-secret');
    expect(encrypted.toString('hex', 0, 4)).toBe(ring.ids[0]);
    expect(encrypted).toHaveLength(4 + 12 + 24 + 16);
    expect(encrypted.toString('latin1')).not.toContain('secret');
  });

  test('a value of which any byte was changed, or that was cut off, cannot be decrypted', () => {
    const encrypted = ring.encrypt(place, 'a token of some length');
    for (const index of encrypted.keys()) {
      const changed = Buffer.from(encrypted);
      changed[index] = (changed[index] ?? 0) ^ 1;
      expect(() => ring.decrypt(place, changed)).toThrow(DecryptionError);
      expect(() => ring.decrypt(place, encrypted.subarray(0, index))).toThrow(DecryptionError);
    }
  });

  test.each([
    ['another row', { ...place, row: randomBytes(20) }],
    ['another column', { ...place, column: 'retired_token.token_encrypted' }],
  ])('a value that was moved to %s cannot be decrypted', (_, other) => {
    expect(() => ring.decrypt(other, ring.encrypt(place, 'a token'))).toThrow(/belongs to another row/);
  });

  test('values of every key can be decrypted; the first one encrypts', () => {
    const both = new KeyRing([second, first]);
    expect(both.decrypt(place, ring.encrypt(place, 'old'))).toBe('old');
    expect(new KeyRing([second]).decrypt(place, both.encrypt(place, 'new'))).toBe('new');
  });

  test('a value of a key that is not configured names the id of the key and no more', () => {
    const encrypted = ring.encrypt(place, 'a token');
    const message = `A value of ${place.column} is encrypted with the key ${ring.ids[0]}, which is not among the configured keys.`;
    expect(() => new KeyRing([second]).decrypt(place, encrypted)).toThrow(message);
  });

  test('keys in a file are read again for a value of an unknown key, and when asked to', () => {
    let changed: Buffer[] | undefined = [second, first];
    const reloads = () => {
      const keys = changed;
      changed = undefined;
      return keys;
    };
    const following = new KeyRing([first], reloads);
    expect(following.decrypt(place, new KeyRing([second]).encrypt(place, 'of the added key'))).toBe('of the added key');
    expect(following.ids).toEqual(new KeyRing([second, first]).ids);
    expect(following.refresh()).toBe(false);
    changed = [second];
    expect(following.refresh()).toBe(true);
    expect(following.ids).toEqual(new KeyRing([second]).ids);
  });
});

describe('reading keys', () => {
  const [a, b] = [generateEncryptionKey(), generateEncryptionKey()];

  test.each([
    ['one', a, [a]],
    ['two with a comma', `${a},${b}`, [a, b]],
    ['two on lines of Windows', `${a}\r\n${b}\r\n`, [a, b]],
    ['spaces and commas', ` ${b} , ${a} `, [b, a]],
    ['without padding', a.replace('=', ''), [a]],
  ])('takes %s', (_, text, expected) => {
    const { keys, problems } = parseEncryptionKeys(text);
    expect({ keys: keys.map((key) => key.toString('base64')), problems }).toEqual({ keys: expected, problems: [] });
  });

  const short = randomBytes(31).toString('base64');
  test.each([
    ['nothing', ' ,\n', ['contains no key; it must have at least one 32-byte key in base64']],
    ['a key too short', short, ['must be 32-byte keys in base64: it has 31 bytes']],
    ['a passphrase', 'correct-horse!battery', ['must be 32-byte keys in base64: it is not base64']],
    [
      'several mistakes',
      `${short},${a},${a},${a}*`,
      [
        'must be 32-byte keys in base64: key 1 of 4 has 31 bytes',
        'must not repeat a key: key 3 of 4 is the same as an earlier one',
        'must be 32-byte keys in base64: key 4 of 4 is not base64',
      ],
    ],
    ['too many', Array.from({ length: maxEncryptionKeys + 1 }, generateEncryptionKey).join(), ['must have at most 16 keys']],
  ])('refuses %s and shows no key', (_, text, expected) => {
    const { problems } = parseEncryptionKeys(text);
    expect(problems).toEqual(expected);
    for (const key of [short, a, 'horse']) expect(problems.join()).not.toContain(key.slice(0, 10));
  });
});
