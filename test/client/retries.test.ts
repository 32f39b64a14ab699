import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Fetch, type RequestReport, UserGroupGateway } from '../../client/src/index.ts';

// Pauses of seconds, on a clock that the test moves.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

const busy = (retryAfter?: string) =>
  new Response('{"errors":[{"message":"busy","extensions":{"code":"UNAVAILABLE"}}]}', {
    status: 503,
    headers: retryAfter === undefined ? {} : { 'retry-after': retryAfter },
  });
const found = () => Response.json({ data: { result: null } });

/** A client of a server that responds as told, the last time again and again. @returns also when each request was sent. */
function clientOf(responses: (() => Response | Promise<Response>)[], options: { retries?: number; timeoutMs?: number } = {}) {
  const times: number[] = [];
  const keys: (string | null)[] = [];
  const reports: RequestReport[] = [];
  const startedAt = performance.now();
  const fetch: Fetch = async (_, { headers, signal }) => {
    times.push(performance.now() - startedAt);
    keys.push(new Headers(headers).get('idempotency-key'));
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
    keys,
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

test('waits as long as Retry-After says, and little longer', async () => {
  const { gateway, times } = clientOf([() => busy('2'), () => busy('3'), found]);
  expect(await outcomeOf(gateway.userGroups.get(by))).toBeNull();
  const [first = -1, second = -1, third = -1] = times;
  expect(first).toBe(0);
  expect(second).toBeGreaterThanOrEqual(2_000);
  expect(second).toBeLessThanOrEqual(3_000);
  expect(third - second).toBeGreaterThanOrEqual(3_000);
  expect(third - second).toBeLessThanOrEqual(4_500);
});

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

test('what changes nothing has no key, and is sent again too', async () => {
  const embedToken = () => Response.json({ data: { result: { token: 'a', expiresAt: 'b' } } });
  const signing = clientOf([() => busy(), embedToken]);
  expect(await outcomeOf(signing.gateway.embedTokens.create({ by }, { idempotencyKey: 'mine' }))).toMatchObject({ token: 'a' });
  const reading = clientOf([() => busy(), found]);
  await outcomeOf(reading.gateway.userGroups.get(by));
  const quoting = clientOf([() => busy(), found]);
  await outcomeOf(quoting.gateway.query('{ a(b: "mutation") } # no mutation'));
  expect([signing.keys, reading.keys, quoting.keys]).toEqual([
    [null, null],
    [null, null],
    [null, null],
  ]);
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

test.each(['INTERNAL', 'CONFLICT', 'IDEMPOTENCY_KEY_REUSED', 'constructor'])(
  'does not send a request again after %s',
  async (code) => {
    const response = () => Response.json({ errors: [{ message: 'no', extensions: { code } }] }, { status: 400 });
    const { gateway, times } = clientOf([response]);
    expect(await outcomeOf(gateway.userGroups.get(by))).toMatchObject({ code, message: 'no', name: `GatewayError [${code}]` });
    expect(times).toHaveLength(1);
  },
);

test.each([
  ['nothing', null],
  ['no groups', {}],
  ['no next page, nor the end', { nodes: [] }],
  ['a next page without a cursor', { nodes: [], pageInfo: { hasNextPage: true, endCursor: null } }],
])('a response with %s is not a list that ends', async (_, result) => {
  const { gateway, times } = clientOf([() => Response.json({ data: { result } })]);
  expect(await outcomeOf(gateway.userGroups.list().next())).toMatchObject({ code: 'INVALID_RESPONSE' });
  expect(times).toHaveLength(1);
});

test.each([
  [502, { data: { caller: null } }, 'UNAVAILABLE'],
  [504, { errors: [{ message: 'timed out', extensions: { code: 'GATEWAY_TIMEOUT' } }] }, 'UNAVAILABLE'],
  [404, { data: { caller: null } }, 'INVALID_RESPONSE'],
  [200, { data: 'of a proxy' }, 'NETWORK'],
])('an operation of your own has no result in a response with status %i and %j', async (status, body, code) => {
  const { gateway } = clientOf([() => Response.json(body, { status })]);
  expect(await outcomeOf(gateway.query('{ caller { name } }'))).toMatchObject({ code });
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

test('an error that is for the framework is neither repeated nor wrapped', async () => {
  const dynamic = Object.assign(new Error('This page cannot be rendered statically.'), { digest: 'DYNAMIC_SERVER_USAGE' });
  const { gateway, times } = clientOf([() => Promise.reject(dynamic)]);
  expect(await outcomeOf(gateway.userGroups.get(by))).toBe(dynamic);
  expect(times).toHaveLength(1);
});
