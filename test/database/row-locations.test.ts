import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createRowLocations } from '../../src/database/row-locations.ts';

/** Hashes whose last 32 bits differ from each other, spread as those of a hash function are. */
const hashOf = (index: number): string => `00000001${(Math.imul(index, 2_654_435_761) >>> 0).toString(16).padStart(8, '0')}`;
const tidOf = (index: number): string => `(${index >>> 4},${(index & 15) + 1})`;

test('a location is what was set last for the hash, or forgotten', () => {
  const operation = fc.tuple(
    fc.constantFrom('set', 'get', 'delete'),
    fc.nat(200),
    fc.nat(0xffff_ffff),
    fc.integer({ min: 1, max: 65_535 }),
  );
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 2_000 }), fc.constantFrom(1, 4, 64), (operations, limit) => {
      const locations = createRowLocations(limit);
      const model = new Map<string, string>();
      for (const [kind, index, block, line] of operations) {
        const hash = hashOf(index);
        if (kind === 'set') {
          locations.set(hash, `(${block},${line})`);
          model.set(hash, `(${block},${line})`);
        } else if (kind === 'delete') {
          locations.delete(hash);
          model.delete(hash);
        } else expect([undefined, model.get(hash)]).toContain(locations.get(hash));
      }
    }),
  );
});

test.each([
  [100, 1],
  [10_000, 0.99],
  [300_000, 0.99],
])('of %d locations at least %d are remembered', (count, share) => {
  const locations = createRowLocations();
  for (let index = 0; index < count; index += 1) locations.set(hashOf(index), tidOf(index));
  let remembered = 0;
  for (let index = 0; index < count; index += 1) if (locations.get(hashOf(index)) === tidOf(index)) remembered += 1;
  expect(remembered / count).toBeGreaterThanOrEqual(share);
});

test('a full memory keeps what is used, and forgets what is not', () => {
  const locations = createRowLocations(64);
  for (let index = 0; index < 20_000; index += 1) {
    locations.set(hashOf(index), tidOf(index));
    expect(locations.get(hashOf(0))).toBe(tidOf(0));
  }
  expect(locations.get(hashOf(1))).toBeUndefined();
});

test('memory is bounded: no more than two full tables are remembered', () => {
  const [sets, ways] = [64, 16];
  const locations = createRowLocations(sets);
  const indexes = Array.from({ length: 10 * sets * ways }, (_, index) => index);
  for (const index of indexes) locations.set(hashOf(index), tidOf(index));
  expect(indexes.filter((index) => locations.get(hashOf(index)) !== undefined).length).toBeLessThanOrEqual(2 * sets * ways);
});

test.each(['', '(1)', '1,2', '(1,2', '(-1,2)', '(a,b)', '(1,2) or true'])('%j is no location and is ignored', (tid) => {
  const locations = createRowLocations();
  locations.set(hashOf(1), tid);
  expect(locations.get(hashOf(1))).toBeUndefined();
});
