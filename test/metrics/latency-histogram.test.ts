import { describe, expect, test } from 'vitest';
import { bucketCount, bucketOf, quantileOf } from '../../src/metrics/request-metrics.ts';

const countsOf = (latencies: readonly number[]): number[] => {
  const counts = new Array<number>(bucketCount).fill(0);
  for (const latency of latencies) counts[bucketOf(latency)] = (counts[bucketOf(latency)] ?? 0) + 1;
  return counts;
};

test.each([0, -1, Number.NaN, 0.25])('%d ms is in the first bucket', (latency) => {
  expect(bucketOf(latency)).toBe(0);
});

test.each([12_000, 1e9, Number.POSITIVE_INFINITY])('%d ms is in the last bucket', (latency) => {
  expect(bucketOf(latency)).toBe(bucketCount - 1);
});

test('a longer latency is never in a lower bucket', () => {
  const buckets = Array.from({ length: 20_000 }, (_, index) => bucketOf(index));
  expect(buckets).toEqual([...buckets].sort((a, b) => a - b));
});

describe.each([
  ['even', Array.from({ length: 1_000 }, (_, index) => 1 + index / 10)],
  ['two groups', [...new Array<number>(950).fill(3), ...new Array<number>(50).fill(700)]],
  ['one', [42]],
])('of latencies that are %s', (_, latencies) => {
  test.each([0.01, 0.5, 0.9, 0.99, 1])('the quantile %d is exact within a quarter of its value', (quantile) => {
    const sorted = [...latencies].sort((a, b) => a - b);
    const exact = sorted[Math.max(0, Math.ceil(quantile * sorted.length) - 1)] as number;
    const found = quantileOf(countsOf(latencies), quantile) as number;
    expect(Math.abs(found - exact) / exact).toBeLessThanOrEqual(0.25);
  });
});

test('of nothing there is no quantile', () => {
  expect(quantileOf([], 0.5)).toBeUndefined();
});
