import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Fetch, type RequestReport, UserGroupGateway } from '../../client/src/index.ts';

// After what a request is sent again: client/conformance. Pauses of seconds, on a clock that the test moves.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

const busy = (retryAfter?: string) =>
  new Response('{"errors":[{"message":"busy","extensions":{"code":"UNAVAILABLE"}}]}', {
    status: 503,
    headers: retryAfter === undefined ? {} : { 'retry-after': retryAfter },
  });
const found = () => Response.json({ data: { result: null } });

/** A client of a server that responds as told, the last time again and again. @returns also when each request was sent. */
function clientOf(responses: (() => Response | Promise<Response>)[], options: { retries?: number } = {}) {
  const times: number[] = [];
  const reports: RequestReport[] = [];
  const startedAt = performance.now();
  const fetch: Fetch = async (_, { signal }) => {
    times.push(performance.now() - startedAt);
    const response = responses[Math.min(times.length, responses.length) - 1]?.();
    return Promise.race([
      response as Response,
      new Promise<never>((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason))),
    ]);
  };
  const onRequest = (report: RequestReport) => void reports.push(report);
  return {
    gateway: new UserGroupGateway({ url: 'http://gateway', apiToken: 'token', fetch, onRequest, ...options }),
    times,
    reports,
  };
}

/** The outcome of a call, with the clock moved until there is one. */
async function outcomeOf(call: Promise<unknown>): Promise<unknown> {
  const outcome = call.catch((error: unknown) => error);
  await vi.runAllTimersAsync();
  return outcome;
}

const by = { providedId: 'acme' };

test('waits longer after each failure, and never the same time', async () => {
  const runs: number[][] = [];
  for (let run = 0; run < 20; run += 1) {
    const { gateway, times } = clientOf([() => busy('0')], { retries: 4 });
    await outcomeOf(gateway.userGroups.get(by));
    runs.push(times.slice(1).map((time, index) => time - (times[index] ?? 0)));
  }
  for (const pauses of runs) {
    expect(pauses).toHaveLength(4);
    for (const [index, pause] of pauses.entries()) {
      expect(pause).toBeGreaterThanOrEqual(100 * 2 ** index - 1);
      expect(pause).toBeLessThanOrEqual(150 * 2 ** index + 1);
    }
  }
  expect(new Set(runs.map(([first]) => first)).size).toBeGreaterThan(1);
});

test('sends nothing after the signal of the caller: before, during and between requests', async () => {
  const reason = new Error('not needed');
  const before = clientOf([found]);
  expect(await outcomeOf(before.gateway.userGroups.get(by, { signal: AbortSignal.abort(reason) }))).toBe(reason);
  expect(before.times).toEqual([]);

  for (const [response, afterMs] of [
    [() => new Promise<never>(() => {}), 10],
    [() => busy('2'), 1_000],
  ] as const) {
    const { gateway, times } = clientOf([response]);
    const controller = new AbortController();
    const outcome = gateway.userGroups.get(by, { signal: controller.signal }).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(afterMs);
    controller.abort(reason);
    expect(await outcome).toBe(reason);
    await vi.runAllTimersAsync();
    expect(times).toEqual([0]);
    expect(vi.getTimerCount()).toBe(0);
  }
});

test('reports each request with its operation and its error, never the token', async () => {
  const { gateway, reports } = clientOf([() => busy(), found]);
  await outcomeOf(gateway.userGroups.get(by));
  expect(reports).toEqual([
    { operation: 'GetUserGroup', attempt: 1, durationMs: 0, error: expect.objectContaining({ code: 'UNAVAILABLE' }) },
    { operation: 'GetUserGroup', attempt: 2, durationMs: 0, error: undefined },
  ]);
  const refused = clientOf([() => Response.json({ data: { result: { code: 'NOT_FOUND', message: 'No such user group.' } } })]);
  const error = await outcomeOf(refused.gateway.userGroups.delete({ by }));
  expect(error).toMatchObject({ code: 'NOT_FOUND' });
  expect(refused.reports).toEqual([{ operation: 'DeleteUserGroup', attempt: 1, durationMs: 0, error }]);
});
