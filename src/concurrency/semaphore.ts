import { GatewayError, nothingChanged } from '../errors.ts';
import { FairQueue, type QueueKey } from './fair-queue.ts';

/** The result of a promise, or that of `late` when it takes longer. A later result or error is ignored. */
export async function within<Result, Late>(
  milliseconds: number,
  promise: Promise<Result>,
  late: () => Late,
): Promise<Result | Late> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<Late>((resolve) => {
    timer = setTimeout(() => resolve(late()), milliseconds);
  });
  return Promise.race([promise, timeout]).finally(() => clearTimeout(timer));
}

/** Bounds the number of pieces of work in progress; for callers without a credential, to one. */
export interface Semaphore {
  /** Runs `work` as soon as there is a free permit. @throws GatewayError `UNAVAILABLE` when too many wait; what `work` throws. */
  run<Result>(queueKey: QueueKey, work: () => Promise<Result>): Promise<Result>;
  /** The number of pieces of work that wait. */
  readonly waiting: number;
}

/**
 * Creates a semaphore.
 *
 * @param permits the maximum in progress.
 * @param maxWaiting the maximum waiting for a permit.
 * @param what names them in the error when too many wait.
 */
export function createSemaphore(permits: number, maxWaiting: number, what?: string): Semaphore {
  const waiting = new FairQueue<() => void>(maxWaiting);
  let free = permits;
  let isAnonymousRunning = false;

  const isEligible = (queueKey: QueueKey): boolean => free > 0 && (queueKey !== undefined || !isAnonymousRunning);

  function take(queueKey: QueueKey): void {
    free -= 1;
    if (queueKey === undefined) isAnonymousRunning = true;
  }

  function release(queueKey: QueueKey): void {
    free += 1;
    if (queueKey === undefined) isAnonymousRunning = false;
    waiting.shift(isEligible)?.();
  }

  function acquire(queueKey: QueueKey): Promise<void> | undefined {
    if (isEligible(queueKey)) return void take(queueKey);
    return new Promise((resolve, reject) => {
      const admit = () => {
        take(queueKey);
        resolve();
      };
      if (!waiting.push(queueKey, admit)) reject(overloaded(what));
    });
  }

  return {
    get waiting() {
      return waiting.size;
    },
    async run(queueKey, work) {
      await acquire(queueKey);
      try {
        return await work();
      } finally {
        release(queueKey);
      }
    },
  };
}

function overloaded(what = 'large requests'): GatewayError {
  return new GatewayError(
    'UNAVAILABLE',
    `Too many ${what} are waiting to be processed. ${nothingChanged}Try again after the number of seconds in the Retry-After header.`,
  );
}
