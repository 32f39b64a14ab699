import { GatewayError } from './errors.ts';

/** One call's place in a batch. */
interface Waiter<Value> {
  resolve(value: Value | undefined): void;
  reject(error: unknown): void;
}

/** How calls become batches. */
export interface Batching<Key, Value> {
  /** What makes two keys the same: calls with the same one share an answer. */
  readonly identity: (key: Key) => string;
  /** Answers distinct keys at once, each under its identity; one that is missing has no value. */
  readonly load: (keys: readonly Key[]) => Promise<ReadonlyMap<string, Value>>;
  /** The most distinct keys in a batch; one more begins the next. */
  readonly maxKeys: number;
}

/**
 * How many batches of one kind may be under way at once. While they are, others gather, so that under load batches grow
 * and statements become fewer. More than one, so that a slow batch does not hold up those behind it.
 */
const maxUnderWay = 2;

/** How many distinct keys may wait while the database is slow; more are refused at once, so that memory stays bounded. */
const maxWaiting = 10_000;

/**
 * Makes one statement of what is asked for in one turn of the event loop, or while earlier statements are under way, by
 * whichever requests.
 *
 * This is no cache: what a call gets was read after it asked, and nothing is kept. A lone call waits for nothing but the
 * end of the turn. When a batch fails, each of its calls fails with the same error.
 */
export function collapse<Key, Value>(batching: Batching<Key, Value>): (key: Key) => Promise<Value | undefined> {
  const waiting = new Map<string, { key: Key; waiters: Waiter<Value>[] }>();
  let scheduled = false;
  let underWay = 0;

  function dispatch(): void {
    scheduled = false;
    while (waiting.size > 0 && underWay < maxUnderWay) run(nextBatch());
  }

  function nextBatch(): [identity: string, { key: Key; waiters: Waiter<Value>[] }][] {
    const batch = [...waiting].slice(0, batching.maxKeys);
    if (batch.length === waiting.size) waiting.clear();
    else for (const [identity] of batch) waiting.delete(identity);
    return batch;
  }

  function run(batch: ReturnType<typeof nextBatch>): void {
    underWay += 1;
    batching
      .load(batch.map(([, { key }]) => key))
      .then(
        (values) => {
          for (const [identity, { waiters }] of batch) for (const { resolve } of waiters) resolve(values.get(identity));
        },
        (error) => {
          for (const [, { waiters }] of batch) for (const { reject } of waiters) reject(error);
        },
      )
      .finally(() => {
        underWay -= 1;
        dispatch();
      });
  }

  return (key) =>
    new Promise((resolve, reject) => {
      const identity = batching.identity(key);
      const entry = waiting.get(identity);
      if (entry) return void entry.waiters.push({ resolve, reject });
      if (waiting.size >= maxWaiting) {
        return reject(new GatewayError('UNAVAILABLE', 'Too many requests are waiting for the database. Try again shortly.'));
      }
      waiting.set(identity, { key, waiters: [{ resolve, reject }] });
      if (!scheduled) {
        scheduled = true;
        setImmediate(dispatch);
      }
    });
}
