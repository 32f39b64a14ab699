import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Caller } from '../../src/caller.ts';
import { RateLimited } from '../../src/errors.ts';
import { addRequestCounts, RateLimiter } from '../../src/rate-limits/rate-limit.ts';
import { callerWith } from '../support/caller.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const callerOf = (id: number): Caller => callerWith({ id });
const caller = callerOf(1);

/** Sends a request. @returns nothing if it is admitted, else the seconds after which it may be sent again. */
function refusal(limiter: RateLimiter, by = caller): number | undefined {
  try {
    limiter.admit(by);
    return undefined;
  } catch (error) {
    if (error instanceof RateLimited) return error.retryAfterSeconds;
    throw error;
  }
}

describe('in one process', () => {
  // Fractions that sums do not round.
  const pause = (maxSeconds: number) => fc.nat(maxSeconds * 1_024).map((parts) => parts / 1_024);
  const pauses = fc.array(fc.oneof(pause(2), pause(90)), { maxLength: 120 });

  test('no 60 seconds have more requests than are permitted, and a request is refused only if 61 seconds have as many', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 8 }), pauses, fc.nat(200), (limit, waits, start) => {
        let now = start;
        const limiter = new RateLimiter(limit, () => now);
        const admitted: number[] = [];
        for (const wait of waits) {
          now += wait;
          const retryAfter = refusal(limiter);
          if (retryAfter === undefined) admitted.push(now);
          const within = (seconds: number) => admitted.filter((time) => time > now - seconds).length;
          expect(within(60)).toBeLessThanOrEqual(limit);
          if (retryAfter !== undefined) expect(within(61)).toBeGreaterThanOrEqual(limit);
        }
      }),
    );
  });

  test('a refused request is admitted after the stated number of seconds, and not a second before', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 8 }), pauses, (limit, waits) => {
        let now = 0;
        const limiter = new RateLimiter(limit, () => now);
        for (const wait of waits) {
          now += wait;
          const retryAfter = refusal(limiter);
          if (retryAfter === undefined) continue;
          expect(retryAfter).toBeGreaterThanOrEqual(1);
          expect(retryAfter).toBeLessThanOrEqual(61);
          expect(limiter.quotaOf({ id: 1, rateLimit: null })).toEqual({ remaining: 0, seconds: retryAfter });
          now += retryAfter - 1;
          if (retryAfter > 1) expect(refusal(limiter)).toBe(1);
          now += 1;
          expect(refusal(limiter)).toBeUndefined();
        }
      }),
    );
  });

  test('each API token has its own requests, and callers without one are not limited', () => {
    let now = 10;
    const limiter = new RateLimiter(2, () => now);
    expect([1, 2, 1, 2, 1].map((id) => refusal(limiter, callerOf(id)) === undefined)).toEqual([true, true, true, true, false]);
    expect(limiter.quotaOf({ id: 1, rateLimit: null })).toEqual({ remaining: 0, seconds: 61 });
    now += 61;
    expect(limiter.quotaOf({ id: 1, rateLimit: null })).toEqual({ remaining: 2, seconds: 0 });
    expect(refusal(limiter, Caller.anonymous)).toBeUndefined();
  });
});

describe('in several processes', () => {
  let database: TestDatabase;
  let passed: number;
  /** By how many seconds the database's clock is behind what it would be: tests cannot set it, so they move what is stored. */
  let behind: number;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    await database.pool.query('truncate request_count');
    passed = 0;
    behind = 0;
  });

  async function setClock(seconds: number): Promise<void> {
    behind += seconds;
    await database.pool.query('update request_count set second = second - $1', [seconds]);
  }

  async function pass(seconds: number): Promise<void> {
    await setClock(seconds);
    passed += seconds;
  }

  const time = (): number => performance.now() / 1_000 + passed;

  type Add = Parameters<RateLimiter['share']>[0];

  const addInTime: Add = async (...args) => {
    const { second, counts } = await addRequestCounts(database.sql, ...args);
    return { second: second + behind, counts: counts.map((each) => ({ ...each, second: each.second + behind })) };
  };

  /** A process that has read the counts of the others. */
  async function start(limit: number, add: Add = addInTime, now = time) {
    const limiter = new RateLimiter(limit, now);
    const queueKey = () => limiter.share(add);
    await queueKey();
    return { limiter, queueKey, remaining: () => limiter.quotaOf({ id: 1, rateLimit: null }).remaining };
  }

  const send = (limiter: RateLimiter, times: number) =>
    Array.from({ length: times }, () => refusal(limiter)).filter((refused) => refused === undefined).length;

  const stored = async (): Promise<number[]> => {
    const { rows } = await database.pool.query<{ count: number }>(
      'select count from request_count order by second, api_token_id',
    );
    return rows.map(({ count }) => count);
  };

  test('each knows the requests of all others after it has shared its own, once each', async () => {
    const all = [await start(10), await start(10), await start(10)];
    for (const [index, { limiter }] of all.entries()) expect(send(limiter, index + 1)).toBe(index + 1);
    for (let round = 1; round <= 15; round += 1) for (const { queueKey } of all) await queueKey();
    expect(all.map(({ remaining }) => remaining())).toEqual([4, 4, 4]);
    expect(send(all[0]?.limiter as RateLimiter, 10)).toBe(4);
    for (const { queueKey } of all) await queueKey();
    expect(all.map(({ remaining }) => remaining())).toEqual([0, 0, 0]);
    expect((await stored()).reduce((sum, count) => sum + count)).toBe(10);
  });

  test('what a process has shared counts for itself as before, to the second', async () => {
    let now = time();
    const [alone, sharing] = [new RateLimiter(7, () => now), await start(7, addInTime, () => now)];
    for (let step = 0; step < 100; step += 1) {
      await pass((step * 5) % 8);
      now = time();
      if (step % 3 > 0) for (const limiter of [alone, sharing.limiter]) send(limiter, step % 5);
      if (step % 2 > 0) await sharing.queueKey();
      expect([step, sharing.limiter.quotaOf({ id: 1, rateLimit: null })]).toEqual([
        step,
        alone.quotaOf({ id: 1, rateLimit: null }),
      ]);
    }
  });

  test('a process that starts knows what those counted that are gone, and since when', async () => {
    const first = await start(3);
    send(first.limiter, 3);
    await first.queueKey();
    await pass(30);
    const { limiter } = await start(3);
    const { remaining, seconds } = limiter.quotaOf({ id: 1, rateLimit: null });
    expect(remaining).toBe(0);
    expect(seconds).toBeGreaterThan(25);
    expect(seconds).toBeLessThanOrEqual(32);
    await pass(32);
    expect((await start(3)).remaining()).toBe(3);
  });

  test.each([-3_600, -30, 30, 3_600])(
    "when the database's clock is set by %d seconds, what is known stays known, and counts are shared again",
    async (seconds) => {
      const all = [await start(10), await start(10)] as const;
      const [first, second] = all;
      const shareAll = async (times: number) => {
        for (let time = 0; time < times; time += 1) for (const { queueKey } of all) await queueKey();
      };
      send(first.limiter, 2);
      await shareAll(2);
      await setClock(seconds);
      await shareAll(1);
      await pass(2);
      send(first.limiter, 1);
      await shareAll(20);
      expect(all.map(({ remaining }) => remaining())).toEqual([7, 7]);
      await pass(62);
      await shareAll(20);
      send(second.limiter, 1);
      await shareAll(2);
      expect(all.map(({ remaining }) => remaining())).toEqual([9, 9]);
    },
  );

  test.each([
    ['does not get to the database', 'what was admitted since the last call is known to that process alone', [18, 20]],
    ['is lost on the way back', 'that process counts it twice', [16, 18]],
  ] as const)('when a call %s, %s', async (moment, _, remaining) => {
    let isBroken = true;
    const [sender, reader] = [
      await start(20, async (...args) => {
        if (isBroken && args[0].size > 0 && moment === 'does not get to the database') throw new Error('broken');
        const all = await addInTime(...args);
        if (isBroken && args[0].size > 0) throw new Error('broken');
        return all;
      }),
      await start(20),
    ];
    send(sender.limiter, 2);
    await expect(sender.queueKey()).rejects.toThrow('broken');
    isBroken = false;
    const all = async () => {
      for (const { queueKey } of [sender, reader, sender]) await queueKey();
      return [sender.remaining(), reader.remaining()];
    };
    expect(await all()).toEqual(remaining);
    send(sender.limiter, 1);
    expect(await all()).toEqual(remaining.map((each) => each - 1));
  });

  test('a call is one statement, regardless of the number of API tokens, and stores nothing if nothing was counted', async () => {
    const statements: unknown[] = [];
    const sql: TestDatabase['sql'] = (name, ...rest) => {
      statements.push(name);
      return database.sql(name, ...rest);
    };
    const { limiter, queueKey } = await start(10, (...args) => addRequestCounts(sql, ...args));
    for (let id = 1; id <= 1_000; id += 1) limiter.admit(callerOf(id));
    statements.length = 0;
    await queueKey();
    await queueKey();
    expect(statements).toHaveLength(2);
    expect(await stored()).toEqual(new Array(1_000).fill(1));
  });

  test('processes that add to the same counts at once wait for each other: none fails, and nothing is lost', async () => {
    const all = await Promise.all(Array.from({ length: 6 }, () => start(1_000)));
    const ids = Array.from({ length: 300 }, (_, index) => index + 1);
    for (let round = 0; round < 5; round += 1) {
      for (const [index, { limiter }] of all.entries()) {
        for (const id of index % 2 ? ids : ids.toReversed()) limiter.admit(callerOf(id));
      }
      await Promise.all(all.map(({ queueKey }) => queueKey()));
    }
    expect((await stored()).reduce((sum, count) => sum + count)).toBe(6 * 5 * 300);
  });

  test.each([
    ['older than a minute', -64],
    ['from before the clock of the database was set back', 64],
  ])('rows %s do not count, and are removed', async (_, seconds) => {
    const { limiter, queueKey } = await start(10);
    send(limiter, 1);
    await queueKey();
    await database.pool.query('update request_count set second = second + $1', [seconds]);
    expect((await start(10)).remaining()).toBe(10);
    expect(await stored()).toEqual([]);
  });

  test('the table is not written to the log of the database', async () => {
    const { rows } = await database.pool.query("select relpersistence from pg_class where oid = 'request_count'::regclass");
    expect(rows).toEqual([{ relpersistence: 'u' }]);
  });
});
