import { setImmediate as nextTurn } from 'node:timers/promises';
import { createSemaphore, type QueueKey } from './fair-queue.ts';

/** The limits of heavy work. docs/limits.md lists the same figures. */
export const heavyWorkLimits = {
  /** Large bodies and long documents that wait to be parsed; of costly operations, as many. */
  maxWaitingHeavyWork: 200,
  /** Costly operations in progress. Each may hold a response of the maximum size. */
  maxCostlyOperations: 2,
} as const;

/**
 * The number of turns of the event loop between two pieces of work, unless they take longer than twice the work plus this pause.
 * An idle turn takes microseconds. A turn accepts only one new connection, hence the number.
 */
const turnsBetween = 256;
const maxPauseMs = 100;

/** The sender of one request. */
export interface HeavyCaller {
  readonly queueKey: QueueKey;
}

/**
 * Waits for something outside of the queue: resolves with it once it is the operation's turn again. The operation must do nothing
 * else meanwhile.
 */
export type Pause = <Result>(wait: () => Promise<Result>) => Promise<Result>;

/**
 * Work that occupies the event loop for a while: it begins one piece at a time, round-robin between callers, with time for other
 * requests in between.
 */
export interface HeavyWork {
  /**
   * Resolves when it is this caller's turn to parse; at once if it still is: a request whose body is large may have a long
   * document and a costly operation, too.
   *
   * @throws GatewayError `UNAVAILABLE`, by its promise, when too many wait.
   */
  enter(caller: HeavyCaller): Promise<void>;
  /**
   * Runs a costly operation in its turn. While it waits for something that may take long, others have its place.
   *
   * @throws GatewayError `UNAVAILABLE` when too many wait, also by the promise of a pause; what `work` throws.
   */
  run<Result>(caller: HeavyCaller, work: (pause: Pause) => Promise<Result>): Promise<Result>;
  /** How much work waits. */
  readonly waiting: number;
}

/** Creates a queue of heavy work. */
export function createHeavyWork(): HeavyWork {
  const { maxWaitingHeavyWork, maxCostlyOperations } = heavyWorkLimits;
  const turns = createSemaphore(1, maxWaitingHeavyWork);
  // Apart from the turns, because operations also wait for the database, and parsing must not wait for that.
  const operations = createSemaphore(maxCostlyOperations, maxWaitingHeavyWork);

  /** Whose turn it is, until others may have theirs. Requests without a credential have one caller in common. */
  let admitted: HeavyCaller | undefined;

  const enter: HeavyWork['enter'] = (caller) => {
    if (caller === admitted && caller.queueKey !== undefined) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const admit = async () => {
        admitted = caller;
        resolve();
        await letOthersRun();
        admitted = undefined;
      };
      turns.run(caller.queueKey, admit).catch(reject);
    });
  };

  /** Resolves when it is this caller's turn to execute a costly operation, with what ends it. */
  const begin = (caller: HeavyCaller): Promise<() => void> =>
    new Promise((resolve, reject) => {
      const hold = async () => {
        await enter(caller);
        await new Promise<void>((end) => resolve(end));
      };
      operations.run(caller.queueKey, hold).catch(reject);
    });

  return {
    get waiting() {
      return turns.waiting + operations.waiting;
    },
    enter,
    async run(caller, work) {
      let end = await begin(caller);
      let isOver = false;
      try {
        return await work(async (wait) => {
          end();
          const result = await wait();
          end = await begin(caller);
          if (isOver) end();
          return result;
        });
      } finally {
        isOver = true;
        end();
      }
    },
  };
}

/** Lets a piece of work run, which begins after this function returns and ends before the next turn, and then other requests. */
async function letOthersRun(): Promise<void> {
  const startedMs = performance.now();
  await nextTurn();
  const endMs = performance.now() + (performance.now() - startedMs) + maxPauseMs;
  for (let turns = 1; turns < turnsBetween && performance.now() < endMs; turns += 1) await nextTurn();
}

/** The heavy work of this process, which has one event loop. */
export const heavyWork = createHeavyWork();
