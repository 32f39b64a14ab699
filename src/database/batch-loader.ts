import { metrics } from '../metrics/metrics.ts';
import { tracing } from '../tracing/tracing.ts';
import { DatabaseBusy } from './errors.ts';

/** The most keys of a look-up: enough for every request of a turn, small enough not to hold up other statements. */
export const maxLookupKeys = 512;

/** The keys that wait to be sent, of all batch loaders of this process. */
export const waitingKeys = { count: 0 };

/** A key that waits to be loaded, and the result that every call for it gets. */
class PendingKey<Key, Value> {
  readonly key: Key;
  /** The span of the request that needs it first. */
  readonly span: unknown = tracing.active?.current();
  readonly result: Promise<Value | undefined>;
  resolve!: (value: Value | undefined) => void;
  reject!: (error: unknown) => void;

  constructor(key: Key) {
    this.key = key;
    this.result = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }
}

/** How calls become batches. */
export interface BatchLoaderOptions<Key, Value> {
  /** Identifies a key: calls whose keys have the same text share a result. */
  readonly keyOf: (key: Key) => string;
  /** Loads distinct keys at once, each value under its {@link keyOf}; a key that is missing has no value. */
  readonly load: (keys: readonly Key[]) => Promise<ReadonlyMap<string, Value>>;
  /** The most distinct keys in a batch; one more begins the next. */
  readonly maxKeys: number;
}

/** Loads the value of a key; undefined when there is none. */
export type Load<Key, Value> = (key: Key) => Promise<Value | undefined>;

/**
 * The maximum number of batches of one loader in flight. Meanwhile other keys accumulate, so that under load batches grow
 * and statements become fewer. More than one, so that a slow batch does not block the next one.
 */
const maxInFlight = 2;

/** How many distinct keys may wait while the database is slow; more are rejected immediately, so that memory stays bounded. */
const maxWaiting = 10_000;

/**
 * Creates a loader that sends one statement for all keys that are requested in one turn of the event loop, or while earlier
 * batches are in flight.
 *
 * This is not a cache: every value is read after it was requested, and nothing is kept. A single call waits only for the end
 * of the turn. When a batch fails, each of its calls rejects with the same error.
 *
 * @returns a function that rejects with {@link DatabaseBusy} when too many keys wait.
 */
export function createBatchLoader<Key, Value>(options: BatchLoaderOptions<Key, Value>): Load<Key, Value> {
  const { keyOf, load, maxKeys } = options;
  let waiting = new Map<string, PendingKey<Key, Value>>();
  let isScheduled = false;
  let inFlight = 0;

  function dispatch(): void {
    isScheduled = false;
    while (waiting.size > 0 && inFlight < maxInFlight) {
      const all = [...waiting];
      // A new map and not `clear`, after which a map's former content still refers to its next: once one content has become
      // old, every later one, dead or not, would become so too, and with it the requests that it holds (twice the memory).
      waiting = new Map(all.slice(maxKeys));
      send(all.slice(0, maxKeys));
    }
  }

  function send(batch: readonly [string, PendingKey<Key, Value>][]): void {
    inFlight += 1;
    waitingKeys.count -= batch.length;
    metrics.batchSize.observe(batch.length);
    const keys = batch.map(([, { key }]) => key);
    const spans = () => batch.map(([, { span }]) => span);
    const loading = tracing.active ? tracing.active.shared(spans(), () => load(keys)) : load(keys);
    loading
      .then(
        (values) => {
          for (const [id, { resolve }] of batch) resolve(values.get(id));
        },
        (error) => {
          for (const [, { reject }] of batch) reject(error);
        },
      )
      .finally(() => {
        inFlight -= 1;
        dispatch();
      });
  }

  return (key) => {
    const id = keyOf(key);
    const known = waiting.get(id);
    if (known) return known.result;
    if (waiting.size >= maxWaiting) return Promise.reject(new DatabaseBusy());
    const pending = new PendingKey<Key, Value>(key);
    waiting.set(id, pending);
    waitingKeys.count += 1;
    if (!isScheduled) setImmediate(dispatch);
    isScheduled = true;
    return pending.result;
  };
}
