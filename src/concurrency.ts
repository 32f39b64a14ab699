import { GatewayError } from './domain/errors.ts';

/**
 * Lets pieces of work that occupy the event loop for a while start one after another, in order of arrival, with time for other
 * requests in between.
 */
export interface Turnstile {
  /** Resolves when it is this caller's turn. @throws GatewayError `UNAVAILABLE`, by its promise, when too many wait. */
  enter(): Promise<void>;
}

/**
 * How many turns the event loop gets between two pieces of work, unless these take longer than the work did and this pause. A
 * turn without anything to do takes microseconds. A turn accepts a single new connection, so it takes as many as there are.
 */
const turnsBetween = 256;
const maxPauseMs = 100;

/** Creates a turnstile. @param maxWaiting how many may wait at most. */
export function createTurnstile(maxWaiting: number): Turnstile {
  const waiting: (() => void)[] = [];
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
    else if (waiting.length > 0) admit();
    else isRunning = false;
  }

  return {
    enter() {
      if (waiting.length >= maxWaiting) return Promise.reject(overloaded());
      return new Promise((resolve) => {
        waiting.push(resolve);
        if (isRunning) return;
        isRunning = true;
        setImmediate(admit);
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
