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
 * Makes one statement of all that is asked for in one turn of the event loop, by whichever requests.
 *
 * This is no cache: what a call gets was read after it asked, and nothing is kept. A lone call waits for nothing but the
 * end of the turn. When a batch fails, each of its calls fails with the same error.
 */
export function collapse<Key, Value>(batching: Batching<Key, Value>): (key: Key) => Promise<Value | undefined> {
  let waiting = new Map<string, { key: Key; waiters: Waiter<Value>[] }>();

  const dispatch = (): void => {
    const batch = waiting;
    waiting = new Map();
    if (batch.size === 0) return; // went ahead of its turn, being full
    batching.load([...batch.values()].map(({ key }) => key)).then(
      (values) => {
        for (const [identity, { waiters }] of batch) for (const { resolve } of waiters) resolve(values.get(identity));
      },
      (error) => {
        for (const { waiters } of batch.values()) for (const { reject } of waiters) reject(error);
      },
    );
  };

  return (key) =>
    new Promise((resolve, reject) => {
      const identity = batching.identity(key);
      const entry = waiting.get(identity);
      if (entry) return void entry.waiters.push({ resolve, reject });
      if (waiting.size === 0) setImmediate(dispatch);
      waiting.set(identity, { key, waiters: [{ resolve, reject }] });
      if (waiting.size >= batching.maxKeys) dispatch();
    });
}
