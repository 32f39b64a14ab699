import { GatewayError } from '../domain/errors.ts';

/**
 * Lets pieces of work that occupy the event loop for a while start one per turn of it, in order of arrival, so that other requests are
 * served in between.
 */
export interface Turnstile {
  /** Resolves when it is this caller's turn. @throws GatewayError `UNAVAILABLE`, by its promise, when too many wait. */
  enter(): Promise<void>;
}

/** Creates a turnstile. @param maxWaiting how many may wait at most. */
export function createTurnstile(maxWaiting: number): Turnstile {
  const waiting: (() => void)[] = [];
  function next(): void {
    waiting.shift()?.();
    if (waiting.length > 0) setImmediate(next); // scheduled from an immediate, it runs in the following turn
  }
  return {
    enter() {
      if (waiting.length >= maxWaiting) return Promise.reject(overloaded());
      return new Promise((resolve) => {
        waiting.push(resolve);
        if (waiting.length === 1) setImmediate(next);
      });
    },
  };
}

/** Bounds how many pieces of work are in progress at once. */
export interface Semaphore {
  /** Runs `work` as soon as there is a free place. @throws GatewayError `UNAVAILABLE` when too many wait; what `work` throws. */
  run<Result>(work: () => Promise<Result>): Promise<Result>;
}

/** Creates a semaphore. @param places how many may be in progress. @param maxWaiting how many may wait for a place. */
export function createSemaphore(places: number, maxWaiting: number): Semaphore {
  const waiting: (() => void)[] = [];
  let free = places;
  return {
    async run(work) {
      if (free > 0) free -= 1;
      else if (waiting.length >= maxWaiting) throw overloaded();
      else await new Promise<void>((resolve) => void waiting.push(resolve));
      try {
        return await work();
      } finally {
        const following = waiting.shift();
        if (following) following();
        else free += 1;
      }
    },
  };
}

function overloaded(): GatewayError {
  return new GatewayError(
    'UNAVAILABLE',
    'Too many large requests are waiting to be processed. Nothing was changed. Try again after as many seconds as the Retry-After header says.',
  );
}
