import { GatewayError, nothingChanged } from '../errors.ts';
import { FairQueue, type Share } from './fair-queue.ts';

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
  /** Runs `work` as soon as there is a free place. @throws GatewayError `UNAVAILABLE` when too many wait; what `work` throws. */
  run<Result>(share: Share, work: () => Promise<Result>): Promise<Result>;
  /** The number of pieces of work that wait. */
  readonly waiting: number;
}

/**
 * Creates a semaphore.
 *
 * @param places the maximum in progress.
 * @param maxWaiting the maximum waiting for a place.
 * @param what names them in the error when too many wait.
 */
export function createSemaphore(places: number, maxWaiting: number, what?: string): Semaphore {
  const waiting = new FairQueue<() => void>(maxWaiting);
  let free = places;
  let isAnonymousRunning = false;

  const isEligible = (share: Share): boolean => free > 0 && (share !== undefined || !isAnonymousRunning);

  function take(share: Share): void {
    free -= 1;
    if (share === undefined) isAnonymousRunning = true;
  }

  function release(share: Share): void {
    free += 1;
    if (share === undefined) isAnonymousRunning = false;
    waiting.shift(isEligible)?.();
  }

  function place(share: Share): Promise<void> | undefined {
    if (isEligible(share)) return void take(share);
    return new Promise((resolve, reject) => {
      const admit = () => {
        take(share);
        resolve();
      };
      if (!waiting.push(share, admit)) reject(overloaded(what));
    });
  }

  return {
    get waiting() {
      return waiting.size;
    },
    async run(share, work) {
      await place(share);
      try {
        return await work();
      } finally {
        release(share);
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
