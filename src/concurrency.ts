import { GatewayError } from './domain/errors.ts';
import { FairQueue, type Share } from './fair-queue.ts';

/**
 * Lets pieces of work that occupy the event loop for a while start one after another, the callers in turn, with time for other requests
 * in between.
 */
export interface Turnstile {
  /** Resolves when it is this caller's turn. @throws GatewayError `UNAVAILABLE`, by its promise, when too many wait. */
  enter(share: Share): Promise<void>;
}

/**
 * How many turns the event loop gets between two pieces of work, unless these take longer than the work did and this pause. A
 * turn without anything to do takes microseconds. A turn accepts a single new connection, so it takes as many as there are.
 */
const turnsBetween = 256;
const maxPauseMs = 100;

/** Creates a turnstile. @param maxWaiting how many may wait at most. */
export function createTurnstile(maxWaiting: number): Turnstile {
  const waiting = new FairQueue<() => void>(maxWaiting);
  let isRunning = false;
  let turns = 0;
  let startedMs = 0;
  let workMs = 0;

  function admit(): void {
    turns = 0;
    startedMs = performance.now();
    waiting.shift()?.(); // the work runs when this function has returned, and is over when the next turn begins
    setImmediate(measure);
  }

  function measure(): void {
    workMs = performance.now() - startedMs;
    pause();
  }

  function pause(): void {
    turns += 1;
    if (turns < turnsBetween && performance.now() - startedMs < 2 * workMs + maxPauseMs) setImmediate(pause);
    else if (waiting.size > 0) admit();
    else isRunning = false;
  }

  return {
    enter: (share) =>
      new Promise((resolve, reject) => {
        if (!waiting.push(share, resolve)) return reject(overloaded());
        if (isRunning) return;
        isRunning = true;
        setImmediate(admit);
      }),
  };
}

/** Bounds how many pieces of work are in progress at once; of callers without a credential, one. */
export interface Semaphore {
  /** Runs `work` as soon as there is a free place. @throws GatewayError `UNAVAILABLE` when too many wait; what `work` throws. */
  run<Result>(share: Share, work: () => Promise<Result>): Promise<Result>;
}

/** Creates a semaphore. @param places how many may be in progress. @param maxWaiting how many may wait for a place. */
export function createSemaphore(places: number, maxWaiting: number): Semaphore {
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
      if (!waiting.push(share, admit)) reject(overloaded());
    });
  }

  return {
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

function overloaded(): GatewayError {
  return new GatewayError(
    'UNAVAILABLE',
    'Too many large requests are waiting to be processed. Nothing was changed. Try again after the number of seconds in the Retry-After header.',
  );
}
