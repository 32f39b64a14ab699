import { setTimeout as sleep } from 'node:timers/promises';
import type { QueueKey } from '../concurrency/fair-queue.ts';
import { GatewayError } from '../errors.ts';
import { type FeedWatch, feedLimits } from './feed.ts';
import type { Feed, FeedPosition } from './statements/feed.ts';

/** How long the feed is not read while requests wait for an event, in milliseconds. */
const intervalMs = 250;

const { maxWaitSeconds, maxWaitingPerApiToken } = feedLimits;

/** A request that waits for an event behind a position. */
interface Waiter {
  readonly queueKey: QueueKey;
  readonly position: FeedPosition;
  readonly endsAtMs: number;
  readonly isAbandoned: () => boolean;
  readonly end: (isEvent: boolean) => void;
  readonly fail: (error: unknown) => void;
}

/**
 * Creates what requests wait with. While any wait, one statement in {@link intervalMs} reads the end of the feed for all of them.
 *
 * @returns also `stop`, which ends every wait now and from then on.
 */
export function createFeedWatch(feed: Pick<Feed, 'assign' | 'state'>): FeedWatch & { stop(): void } {
  const waiters = new Set<Waiter>();
  const stopped = new AbortController();
  let isWatching = false;

  async function watch(): Promise<void> {
    isWatching = true;
    while (waiters.size > 0) {
      await sleep(intervalMs, undefined, { signal: stopped.signal, ref: false }).catch(() => {});
      try {
        await feed.assign();
        const { epoch, lastPosition } = await feed.state();
        endWaits(({ position }) => position.epoch !== epoch || position.position < lastPosition);
      } catch (error) {
        for (const { fail } of waiters) fail(error);
        waiters.clear();
      }
    }
    isWatching = false;
  }

  /** Ends the waits that have an event, and those that are over. */
  function endWaits(hasEvent: (waiter: Waiter) => boolean): void {
    const nowMs = performance.now();
    for (const waiter of waiters) {
      const isEvent = hasEvent(waiter);
      if (!isEvent && nowMs < waiter.endsAtMs && !waiter.isAbandoned() && !stopped.signal.aborted) continue;
      waiters.delete(waiter);
      waiter.end(isEvent);
    }
  }

  return {
    async wait({ queueKey }, position, milliseconds, isAbandoned) {
      if (stopped.signal.aborted) return false;
      const ofApiToken = [...waiters].filter((waiter) => waiter.queueKey === queueKey);
      if (ofApiToken.length >= maxWaitingPerApiToken) {
        const message = `${maxWaitingPerApiToken} requests of this API token wait for events already. Follow the feed with fewer, or with waitSeconds: 0.`;
        throw new GatewayError('RATE_LIMITED', message, { retryAfterSeconds: maxWaitSeconds });
      }
      return new Promise<boolean>((end, fail) => {
        waiters.add({ queueKey, position, endsAtMs: performance.now() + milliseconds, isAbandoned, end, fail });
        if (!isWatching) void watch();
      });
    },
    stop() {
      stopped.abort();
      endWaits(() => false);
    },
  };
}
