import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { bindRateCounts, type ExchangeRateCounts } from '../../src/database/queries/rate-counts.ts';
import { Caller } from '../../src/domain/caller.ts';
import { runHousekeeping } from '../../src/domain/housekeeping.ts';
import { RateLimited, RateLimiter } from '../../src/domain/rate-limit.ts';
import { startRateLimitExchange } from '../../src/domain/rate-limit-exchange.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/process.ts';

const callerOf = (id: number): Caller =>
  new Caller({ id, name: 'test', environmentTag: null, scopes: [], createdAt: new Date(), expiresAt: null, lastUsedAt: null });
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

test.each([-1, -4_000_000_000, 0.5, 1e300])(
  'a count of %d, which no process shares, neither permits more nor refuses for longer',
  (count) => {
    let now = 1_000;
    const limiter = new RateLimiter(2, () => now);
    limiter.addOthers([{ apiTokenId: 1, ageSeconds: 0, count }]);
    const admitted = [refusal(limiter), refusal(limiter), refusal(limiter)].filter((each) => each === undefined).length;
    expect(admitted).toBe(count > 1 ? 0 : 2);
    now += 61;
    expect([refusal(limiter), refusal(limiter)]).toEqual([undefined, undefined]);
    expect(refusal(limiter)).toBe(61);
  },
);

test.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -1, 1e300])(
  'a count with an age of %d, which no process shares, refuses for no longer than a minute',
  (ageSeconds) => {
    let now = 1_000;
    const limiter = new RateLimiter(2, () => now);
    limiter.addOthers([{ apiTokenId: 1, ageSeconds, count: 2 }]);
    now += 61;
    expect([refusal(limiter), refusal(limiter)]).toEqual([undefined, undefined]);
    expect(refusal(limiter)).toBe(61);
  },
);

test('other processes get the counts of the last minute, once', () => {
  let now = 0;
  const limiter = new RateLimiter(1_000, () => now);
  const takenSeconds = () => limiter.takeUnshared().map(({ second }) => second);
  for (; now < 200.5; now += 1) limiter.admit(caller);
  expect([now, takenSeconds()]).toEqual([201, Array.from({ length: 60 }, (_, index) => 141 + index)]);
  expect(takenSeconds()).toEqual([]);
  limiter.admit(caller);
  now += 61;
  expect(takenSeconds()).toEqual([]);
});

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
          expect(limiter.quotaOf(1)).toEqual({ remaining: 0, seconds: retryAfter });
          now += retryAfter - 1;
          if (retryAfter > 1) expect(refusal(limiter)).toBe(1);
          now += 1;
          expect(refusal(limiter)).toBeUndefined();
        }
      }),
    );
  });

  test('each API token has its own requests, and what is forgotten counted for nothing', () => {
    let now = 10;
    const limiter = new RateLimiter(2, () => now);
    expect([1, 2, 1, 2, 1].map((id) => refusal(limiter, callerOf(id)) === undefined)).toEqual([true, true, true, true, false]);
    limiter.forgetUnused();
    expect(limiter.quotaOf(1)).toEqual({ remaining: 0, seconds: 61 });
    now += 61;
    limiter.forgetUnused();
    expect(limiter.quotaOf(1)).toEqual({ remaining: 2, seconds: 0 });
    expect(refusal(limiter, Caller.anonymous)).toBeUndefined();
  });
});

describe('in several processes', () => {
  let database: TestDatabase;
  let counts: ExchangeRateCounts;
  beforeAll(async () => {
    database = await createTestDatabase();
    counts = bindRateCounts(database);
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    await database.pool.query('truncate rate_count');
  });

  /** A process whose timer has exchanged once, and is stopped so that the test decides when it does again. */
  async function start(limit: number, exchangeCounts = counts, now?: () => number) {
    const limiter = new RateLimiter(limit, now);
    const errors: unknown[] = [];
    const { exchange, stop } = startRateLimitExchange(limiter, exchangeCounts, { onExchange: (error) => errors.push(error) });
    await stop();
    return { limiter, exchange, errors };
  }

  const send = (limiter: RateLimiter, times: number) =>
    Array.from({ length: times }, () => refusal(limiter)).filter((refused) => refused === undefined).length;

  test('each knows the requests of all others after one exchange, once each', async () => {
    const all = [await start(10), await start(10), await start(10)];
    for (const [index, { limiter }] of all.entries()) expect(send(limiter, index + 1)).toBe(index + 1);
    for (let round = 1; round <= 3; round += 1) for (const { exchange } of all) await exchange();
    expect(all.map(({ limiter }) => limiter.quotaOf(1).remaining)).toEqual([4, 4, 4]);
    expect(send(all[0]?.limiter as RateLimiter, 10)).toBe(4);
  });

  test('a process that starts knows what those counted that are gone, and since when', async () => {
    const [first] = [await start(3)];
    send(first.limiter, 3);
    await first.exchange();
    await database.pool.query("update rate_count set created_at = created_at - interval '30 seconds'");
    const { limiter } = await start(3);
    const { remaining, seconds } = limiter.quotaOf(1);
    expect(remaining).toBe(0);
    expect(seconds).toBeGreaterThan(25);
    expect(seconds).toBeLessThanOrEqual(31);
  });

  test('what was stored before the clock of the database was set back by more than a minute does not count as new', async () => {
    const [first] = [await start(3)];
    send(first.limiter, 3);
    await first.exchange();
    for (const [seconds, remaining] of [
      [30, 0],
      [90, 3],
    ]) {
      await database.pool.query('update rate_count set created_at = clock_timestamp() + make_interval(secs => $1)', [seconds]);
      const { limiter } = await start(3);
      expect(limiter.quotaOf(1).remaining).toBe(remaining);
    }
  });

  test('counts that may have been stored when the connection broke are shared once', async () => {
    let breaks = true;
    const breaking: ExchangeRateCounts = async (...args) => {
      const others = await counts(...args);
      if (breaks && args[0].counts.length > 0) throw new Error('broken');
      return others;
    };
    const [sender, reader] = [await start(10, breaking), await start(10)];
    send(sender.limiter, 2);
    await expect(sender.exchange()).rejects.toThrow('broken');
    send(sender.limiter, 1);
    await expect(sender.exchange()).rejects.toThrow('broken');
    breaks = false;
    await sender.exchange();
    await sender.exchange();
    await reader.exchange();
    expect(reader.limiter.quotaOf(1).remaining).toBe(7);
  });

  test('what was counted while the database was away is shared with the time at which it was', async () => {
    let now = 100;
    const [sender, reader] = [await start(10, counts, () => now), await start(10, counts, () => now)];
    send(sender.limiter, 4);
    now += 40;
    send(sender.limiter, 1);
    await sender.exchange();
    await reader.exchange();
    expect(reader.limiter.quotaOf(1).remaining).toBe(5);
    now += 22;
    expect(reader.limiter.quotaOf(1).remaining).toBe(9);
  });

  test('an exchange is one statement, regardless of the number of API tokens, and stores nothing if nothing was counted', async () => {
    const statements: unknown[] = [];
    const query: TestDatabase['query'] = (name, ...rest) => {
      statements.push(name);
      return database.query(name, ...rest);
    };
    const { limiter, exchange } = await start(10, bindRateCounts({ query }));
    for (let id = 1; id <= 1_000; id += 1) limiter.admit(callerOf(id));
    statements.length = 0;
    await exchange();
    await exchange();
    expect(statements).toHaveLength(2);
    expect((await database.pool.query('select from rate_count')).rowCount).toBe(1);
  });

  test.each([
    ['older than a minute', -62],
    ['from before the clock of the database was set back', 62],
  ])('of rows %s, a process removes its own, and the housekeeping those of processes that are gone', async (_, seconds) => {
    const [ended, running] = [await start(10), await start(10)];
    for (const { limiter, exchange } of [ended, running]) {
      send(limiter, 1);
      await exchange();
    }
    await database.pool.query('update rate_count set created_at = created_at + make_interval(secs => $1)', [seconds]);
    await running.exchange();
    expect((await database.pool.query('select from rate_count')).rowCount).toBe(1);
    expect(await runHousekeeping(database, { retentionDays: 1 })).toMatchObject({ rateCounts: 1 });
    expect((await database.pool.query('select from rate_count')).rowCount).toBe(0);
  });

  test('the table is not written to the log of the database', async () => {
    const { rows } = await database.pool.query("select relpersistence from pg_class where oid = 'rate_count'::regclass");
    expect(rows).toEqual([{ relpersistence: 'u' }]);
  });

  test('two processes with timers agree within a second, whatever else the machine does', async () => {
    const limiters = [new RateLimiter(100), new RateLimiter(100)];
    const exchanges = limiters.map((limiter) => startRateLimitExchange(limiter, counts, { onExchange: () => {} }));
    const [first, second] = limiters as [RateLimiter, RateLimiter];
    send(first, 60);
    await until(() => second.quotaOf(1).remaining === 40, 'the second process knows the requests of the first');
    expect(send(second, 100)).toBe(40);
    await until(() => first.quotaOf(1).remaining === 0, 'the first process knows those of the second');
    await Promise.all(exchanges.map(({ stop }) => stop()));
  });
});
