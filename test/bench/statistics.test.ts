import { expect, test } from 'vitest';
import { medianInterval } from '../../bench/statistics.ts';

// Ranks as printed in tables of confidence intervals for a median.
test.each([
  [6, 1, 6],
  [8, 1, 8],
  [9, 2, 8],
  [10, 2, 9],
  [12, 3, 10],
  [20, 6, 15],
])('the 95 %% interval of the median of %d values is from rank %d to rank %d', (count, low, high) => {
  const values = Array.from({ length: count }, (_, index) => count - index);
  expect(medianInterval(values)).toEqual({ median: (count + 1) / 2, low, high });
});

test('of five values no interval is known with 95 %', () => {
  expect(medianInterval([1, 2, 3, 4, 5])).toBeUndefined();
});
