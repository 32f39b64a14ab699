import { GatewayError } from './domain/errors.ts';
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

/**
 * Starts work that occupies the event loop for a while one piece at a time, round-robin between callers, with time for other
 * requests in between.
 */
export interface Turnstile {
  /** Resolves when it is this caller's turn. @throws GatewayError `UNAVAILABLE`, by its promise, when too many wait. */
  enter(share: Share): Promise<void>;
  /** The number of callers that wait. */
  readonly waiting: number;
}

/**
 * The number of turns of the event loop between two pieces of work, unless they take longer than twice the work plus this pause.
 * An idle turn takes microseconds. A turn accepts only one new connection, hence the number.
 */
const turnsBetween = 256;
const maxPauseMs = 100;

/** Creates a turnstile. @param maxWaiting the maximum number of waiting callers. */
export function createTurnstile(maxWaiting: number): Turnstile {
  const waiting = new FairQueue<() => void>(maxWaiting);
  let isRunning = false;
  let turns = 0;
  let startedMs = 0;
  let workMs = 0;

  function admit(): void {
    turns = 0;
    startedMs = performance.now();
    waiting.shift()?.(); // the work runs after this function returns, and ends before the next turn
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
    get waiting() {
      return waiting.size;
    },
    enter: (share) =>
      new Promise((resolve, reject) => {
        if (!waiting.push(share, resolve)) return reject(overloaded());
        if (isRunning) return;
        isRunning = true;
        setImmediate(admit);
      }),
  };
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
    `Too many ${what} are waiting to be processed. Nothing was changed. Try again after the number of seconds in the Retry-After header.`,
  );
}
