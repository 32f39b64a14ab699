import { describe, expect, test } from 'vitest';
import { issueToken } from '../../src/domain/tokens.ts';
import { metricDefinitions } from '../../src/metrics/definitions.ts';
import { combineGauges, createValues, Instruments, increment, observe, type SeriesData } from '../../src/metrics/instruments.ts';
import { maxOperationNames, OperationNames } from '../../src/metrics/operation-names.ts';
import { RequestCounters } from '../../src/metrics/request-counters.ts';

const { bounds } = metricDefinitions.batchSize;

test.each([
  [0, 0],
  [1, 0],
  [1.5, 1],
  [2, 1],
  [1_000, bounds.length - 1],
  [1_001, bounds.length],
  [Number.POSITIVE_INFINITY, bounds.length],
])('a histogram counts %d in the first bucket whose bound is not below it', (value, bucket) => {
  const values = createValues('batchSize');
  observe(values, bounds, value);
  expect(values[0]).toBe(value);
  expect([...values.subarray(1)].map((count, index) => [index, count]).filter(([, count]) => count)).toEqual([[bucket, 1]]);
});

test('what several processes counted adds up, each count once, and counting continues after the counts were handed over', () => {
  const [first, second, sum] = [new Instruments(), new Instruments(), new Instruments()];
  const errors = first.series('errors', '/graphql', 'CONFLICT');
  increment(errors);
  increment(second.series('errors', '/graphql', 'CONFLICT'), 2);
  increment(second.series('errors', '/graphql', 'NOT_FOUND'));
  for (const part of [first, second, first]) sum.add(part.drain());
  increment(errors);
  sum.add(first.drain());
  expect(sum.read()).toEqual([
    { metric: 'errors', labels: ['/graphql', 'CONFLICT'], values: [4] },
    { metric: 'errors', labels: ['/graphql', 'NOT_FOUND'], values: [1] },
  ]);
});

test('gauges of several processes are added, or the least or the greatest one counts', () => {
  const gauges = (queue: number, start: number): SeriesData[] => [
    { metric: 'queue', labels: ['documents'], values: [queue] },
    { metric: 'startTime', labels: [], values: [start] },
    { metric: 'build', labels: ['1', '2'], values: [1] },
  ];
  expect(combineGauges([gauges(1, 20), gauges(2, 10)])).toEqual(gauges(3, 10));
});

describe('the names of operations', () => {
  test.each([
    ['no name', undefined, 'anonymous'],
    ['a name', 'Resolve', 'Resolve'],
    ['a long name', 'x'.repeat(65), 'other'],
    ['a name with a token in it', `q${issueToken('apiToken')}`, 'other'],
  ])('%s', (_, name, shown) => {
    expect(new OperationNames().shown(name, true)).toBe(shown);
  });

  test('are bounded: further ones have one name', () => {
    const names = new OperationNames();
    const shown = Array.from({ length: 3 * maxOperationNames }, (_, index) => names.shown(`Name${index}`, true));
    expect(new Set(shown).size).toBe(maxOperationNames + 1);
    expect([names.shown('Name0', true), names.shown('More', true)]).toEqual(['Name0', 'other']);
  });

  test('are not added by callers without an API token', () => {
    const names = new OperationNames();
    expect(names.shown('Sent', false)).toBe('other');
    names.shown('Sent', true);
    expect(names.shown('Sent', false)).toBe('Sent');
  });
});

test('requests are counted by route, operation and status, also those without a route or a response', () => {
  const instruments = new Instruments();
  const counters = new RequestCounters(instruments);
  const counted = { route: '/graphql', operation: 'Resolve', status: 200, durationMs: 3, errorCodes: [] };
  for (let i = 0; i < 2; i += 1) counters.record(counted);
  counters.record({ ...counted, route: undefined, operation: '', status: 404, errorCodes: ['NOT_FOUND'] });
  counters.record({ ...counted, status: undefined });
  const of = (key: string) =>
    instruments.read().flatMap(({ metric, labels, values }) => (metric === key ? [[...labels, values]] : []));
  expect(of('requests')).toEqual([
    ['/graphql', 'Resolve', '200', [2]],
    ['unmatched', '', '404', [1]],
    ['/graphql', 'Resolve', 'disconnected', [1]],
  ]);
  expect(of('errors')).toEqual([['unmatched', 'NOT_FOUND', [1]]]);
  expect(of('requestDuration')[0]?.[2]).toEqual([0.009000000000000001, 0, 0, 3, ...new Array(11).fill(0)]);
});
