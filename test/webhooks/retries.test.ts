import { expect, test } from 'vitest';
import { judge, retrySeconds } from '../../src/webhooks/deliver.ts';

test.each([200, 299])('%d is a success', (status) => {
  expect(judge(1, { status })).toEqual({ status: 'DELIVERED', waitSeconds: 0 });
});

test.each([
  {},
  { error: 'socket hang up' },
  { status: 200, error: 'no complete response' },
  ...[199, 300, 404, 500].map((status) => ({ status })),
])('%j is a failed attempt', (outcome) => {
  expect(judge(1, outcome)).toMatchObject({ status: 'PENDING' });
});

test('the waits are those of the schedule, some three days together, each up to 20 % longer', () => {
  expect(retrySeconds.reduce((sum, seconds) => sum + seconds) / 3_600).toBeCloseTo(75.6, 1);
  for (const [index, seconds] of retrySeconds.entries()) {
    const waits = Array.from({ length: 200 }, () => Number(judge(index + 1, { status: 500 }).waitSeconds));
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(seconds);
    expect(Math.max(...waits)).toBeLessThanOrEqual(seconds * 1.2);
    expect(Math.max(...waits) - Math.min(...waits)).toBeGreaterThan(seconds * 0.1);
  }
  for (const attempts of [10, 11]) expect(judge(attempts, { status: 500 })).toMatchObject({ status: 'FAILED' });
});

test('Retry-After lengthens a wait, to a day at most, and never shortens it', () => {
  const wait = (attempts: number, retryAfterSeconds: number) => judge(attempts, { status: 503, retryAfterSeconds }).waitSeconds;
  expect(wait(1, 100)).toBe(100);
  expect(wait(1, 1)).toBeGreaterThanOrEqual(5);
  expect(wait(1, 999_999_999)).toBe(86_400);
  expect(wait(9, 999_999_999)).toBeGreaterThanOrEqual(86_400);
});
