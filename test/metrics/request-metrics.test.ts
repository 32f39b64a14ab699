import { expect, test } from 'vitest';
import {
  RequestMetrics,
  type RequestSample,
  reportOf,
  slotAt,
  slotCount,
  slotSeconds,
} from '../../src/metrics/request-metrics.ts';

const slotMs = slotSeconds * 1_000;
/** The begin of a slot. */
const startMs = slotMs * 1_000_000;
const ok: RequestSample = { latencyMs: 4, errorCodes: [] };
const conflict: RequestSample = { latencyMs: 4, errorCodes: ['CONFLICT'] };

test('reports each slot, also without requests, and the sum of them', () => {
  const metrics = new RequestMetrics();
  for (const at of [0, 1_000, 2_000]) metrics.record(ok, startMs + at);
  metrics.record(conflict, startMs + 2 * slotMs + 5_000);
  const nowMs = startMs + 2 * slotMs + 10_000;
  const report = reportOf(metrics.read(nowMs), startMs, nowMs);
  expect(
    report.slots.map(({ startedAt, requests, requestsPerSecond }) => [startedAt.getTime(), requests, requestsPerSecond]),
  ).toEqual([
    [startMs, 3, 0.1],
    [startMs + slotMs, 0, 0],
    [startMs + 2 * slotMs, 1, 0.1], // of ten seconds so far
  ]);
  expect(report).toMatchObject({ since: new Date(startMs), requests: 4, errors: [{ code: 'CONFLICT', count: 1 }] });
  expect(report.latency?.p50Ms).toBeCloseTo(4, 0);
  expect(report.slots[1]?.latency).toBeUndefined();
});

test('forgets what is older than an hour, and reuses its memory', () => {
  const metrics = new RequestMetrics();
  for (let slot = 0; slot < 3 * slotCount; slot += 1) metrics.record(conflict, startMs + slot * slotMs);
  const nowMs = startMs + (3 * slotCount - 1) * slotMs + 1;
  const counted = metrics.read(nowMs);
  expect(counted).toHaveLength(slotCount);
  expect(counted.every(({ counts }) => counts[0] === 1)).toBe(true);
  expect(reportOf(counted, startMs, nowMs)).toMatchObject({
    requests: slotCount,
    since: new Date((slotAt(nowMs) - slotCount + 1) * slotMs),
  });
  expect(metrics.read(nowMs + slotCount * slotMs)).toEqual([]);
});

test('lists the most frequent error first', () => {
  const metrics = new RequestMetrics();
  for (const errorCodes of [['CONFLICT'], ['NOT_FOUND'], ['NOT_FOUND', 'FORBIDDEN']] as const) {
    metrics.record({ latencyMs: 1, errorCodes }, startMs);
  }
  expect(reportOf(metrics.read(startMs), startMs, startMs + 1).errors[0]).toEqual({ code: 'NOT_FOUND', count: 2 });
});
