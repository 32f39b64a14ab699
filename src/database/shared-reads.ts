import { createSemaphore, type Semaphore } from '../concurrency/semaphore.ts';
import { abandoned } from '../errors.ts';

/**
 * Bounds the statements of pages that are in progress at once, so that connections remain for other requests, and how many wait.
 * One request may have many.
 */
export const pageReads: Semaphore = createSemaphore(4, 2_000, 'pages of lists');

/** On whose behalf a page is read. */
export interface PageRequest {
  /** That of the caller. */
  readonly queueKey: number | undefined;
  /** Whether the response is no longer needed; a read that has not started is then skipped. */
  readonly isAbandoned: () => boolean;
}

/** A read that has not started yet. */
interface WaitingRead {
  /** Each waits in the queue; the first that is admitted starts the read. */
  readonly requests: Set<PageRequest>;
  readonly result: Promise<unknown>;
  resolve(result: Promise<unknown>): void;
}

/**
 * Reads a page through the fair queue. Requests for the same page that wait at the same time share a read. This is not a cache:
 * each page is read after it was requested.
 *
 * @throws GatewayError `UNAVAILABLE` when too many reads wait, also if one of them is for this page: a caller has no more places
 *   than its part. `UNAVAILABLE` when no request needs the page anymore; what `read` throws.
 */
export type ReadPage<Result> = (key: string, request: PageRequest, read: () => Promise<Result>) => Promise<Result>;

/** Creates a way to read pages whose results are the same if their keys are. */
export function createSharedPageReads<Result>(): ReadPage<Result> {
  const waiting = new Map<string, WaitingRead>();

  async function start(key: string, shared: WaitingRead, read: () => Promise<Result>): Promise<void> {
    if (waiting.get(key) !== shared) return; // another request started it
    waiting.delete(key);
    const isNeeded = [...shared.requests].some(({ isAbandoned }) => !isAbandoned());
    const result = (async () => {
      if (!isNeeded) throw abandoned();
      return read();
    })();
    shared.resolve(result);
    await result;
  }

  return async (key, request, read) => {
    const shared = waiting.get(key) ?? createWaitingRead();
    waiting.set(key, shared);
    shared.requests.add(request);
    const admitted = pageReads.run(request.queueKey, () => start(key, shared, read));
    admitted.catch(() => {
      // No place in the queue: a read without waiting requests must not be kept.
      shared.requests.delete(request);
      if (shared.requests.size === 0 && waiting.get(key) === shared) waiting.delete(key);
    });
    return Promise.race([shared.result, admitted.then(() => shared.result)]) as Promise<Result>;
  };
}

function createWaitingRead(): WaitingRead {
  let resolve: WaitingRead['resolve'] = () => {};
  const result = new Promise<unknown>((settle) => {
    resolve = settle;
  });
  return { requests: new Set(), result, resolve };
}
