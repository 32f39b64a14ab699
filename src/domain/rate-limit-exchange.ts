import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ExchangeRateCounts, RateCounts } from '../database/queries/rate-counts.ts';
import type { RateLimiter } from './rate-limit.ts';

/**
 * How often a process exchanges counts. What one has counted is known to all others after at most two of these and two
 * statements: within a second.
 */
const intervalMs = 400;

/** How long what was read of a process is remembered: longer than it is kept in the database. */
const forgetAfterMs = 300_000;

/** What the exchange reports. Must not throw. */
export interface ExchangeReports {
  /** An exchange has ended. @param error why it failed; undefined if it did not. */
  readonly onExchange: (error: unknown) => void;
}

/** Exchanges the counts of a limiter with those of other processes. */
export interface RateLimitExchange {
  /** Exchanges once, now. Rejects when the database fails; what it could not share is shared with the next one. */
  exchange(): Promise<void>;
  /**
   * Stops the timer, and exchanges a last time unless the last exchange failed, so that the counts outlast this process. Never
   * rejects.
   */
  stop(): Promise<void>;
}

/**
 * Exchanges counts in the background. Requests never wait for it: while the database does not respond, each process continues
 * with what it knows.
 */
export function startRateLimitExchange(
  limiter: RateLimiter,
  exchangeCounts: ExchangeRateCounts,
  { onExchange }: ExchangeReports,
): RateLimitExchange {
  const process = randomUUID();
  const known = new Map<string, { number: number; readAtMs: number }>();
  let number = 0;
  let taken = limiter.takeUnshared();
  const controller = new AbortController();

  async function exchange(): Promise<void> {
    // What could not be shared is sent again under its number, because it may have been stored.
    if (taken.length === 0) taken = limiter.takeUnshared();
    const counts = limiter.withAges(taken).map(({ apiTokenId, ageSeconds, count }) => [apiTokenId, ageSeconds, count] as const);
    const own: RateCounts = { process, number, counts };
    const others = await exchangeCounts(own, new Map([...known].map(([name, read]) => [name, read.number])));
    if (taken.length > 0) number += 1;
    taken = [];
    const nowMs = performance.now();
    for (const shared of others) {
      known.set(shared.process, { number: shared.number, readAtMs: nowMs });
      limiter.addOthers(
        shared.counts.map(([apiTokenId, age, count]) => ({ apiTokenId, ageSeconds: age + shared.ageSeconds, count })),
      );
    }
    for (const [name, { readAtMs }] of known) if (nowMs - readAtMs > forgetAfterMs) known.delete(name);
    limiter.forgetUnused();
  }

  /** @returns whether it succeeded. */
  async function exchangeAndReport(): Promise<boolean> {
    try {
      await exchange();
      onExchange(undefined);
      return true;
    } catch (error) {
      onExchange(error);
      return false;
    }
  }

  async function run(): Promise<void> {
    const { signal } = controller;
    for (let isOver = false; !isOver; ) {
      const isLast = signal.aborted;
      const isShared = await exchangeAndReport();
      // A database that does not respond is not waited for a second time.
      isOver = isLast || (signal.aborted && !isShared);
      if (!isOver) await sleep(intervalMs, undefined, { signal, ref: false }).catch(() => {});
    }
  }

  const ended = run();
  return {
    exchange,
    async stop() {
      controller.abort();
      await ended;
    },
  };
}
