import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createRowLocations } from '../../src/database/row-locations.ts';

/** Hashes whose last 32 bits differ from each other, spread as those of a hash function are. */
const hashOf = (index: number): string => `00000001${(Math.imul(index, 2_654_435_761) >>> 0).toString(16).padStart(8, '0')}`;
const tidOf = (index: number): string => `(${index >>> 4},${(index & 15) + 1})`;

/** Half of them as above, the others in one set of every table: more than it has slots for. */
const unevenHashOf = (index: number): string => hashOf(index % 2 === 0 ? index : index << 8);

test('returns the location that was set last for a hash, or none', () => {
  const operation = fc.tuple(
    fc.constantFrom('set', 'set', 'set', 'get', 'delete'),
    fc.nat(1_500),
    fc.nat(0xffff_ffff),
    fc.integer({ min: 1, max: 65_535 }),
  );
  // By default lists would have ten operations at most, which fill no table.
  const operations = fc.array(operation, { maxLength: 2_000, size: 'max' });
  fc.assert(
    fc.property(operations, fc.constantFrom(1, 4, 64, 256), (steps, limit) => {
      const locations = createRowLocations(limit);
      const model = new Map<string, string>();
      for (const [kind, index, block, line] of steps) {
        const hash = unevenHashOf(index);
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

test('a location that was replaced is not found again once its replacement is forgotten', () => {
  const locations = createRowLocations(4);
  const hashIn = (set: number, index: number): string => (index * 4 + set).toString(16).padStart(16, '0');
  locations.set(hashIn(0, 0), '(1,1)');
  // Until the table is full, and (1,1) in the one before.
  for (let index = 0; index < 40; index += 1) locations.set(hashIn(1 + (index % 3), index), '(9,9)');
  locations.set(hashIn(0, 0), '(2,2)');
  expect(locations.get(hashIn(0, 0))).toBe('(2,2)');
  for (let index = 1; index <= 32; index += 1) locations.set(hashIn(0, index), '(9,9)');
  expect(locations.get(hashIn(0, 0))).toBeUndefined();
});

test('memory is bounded: no more than two full tables are remembered', () => {
  const [sets, ways] = [64, 16];
  const locations = createRowLocations(sets);
  const indexes = Array.from({ length: 10 * sets * ways }, (_, index) => index);
  for (const index of indexes) locations.set(hashOf(index), tidOf(index));
  expect(indexes.filter((index) => locations.get(hashOf(index)) !== undefined).length).toBeLessThanOrEqual(2 * sets * ways);
});

test.each(['', '(1)', '1,2', '(1,2', '(-1,2)', '(a,b)', '(1,2) or true'])('%j is not a location and is ignored', (tid) => {
  const locations = createRowLocations();
  locations.set(hashOf(1), tid);
  expect(locations.get(hashOf(1))).toBeUndefined();
});
