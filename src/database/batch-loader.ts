import type { QueueKey } from '../concurrency/fair-queue.ts';
import { metrics } from '../metrics/metrics.ts';
import { tracing } from '../tracing/tracing.ts';
import { DatabaseBusy } from './errors.ts';

/** The most keys of a look-up: enough for every request of a turn, small enough not to hold up other statements. */
export const maxLookupKeys = 512;

/** The keys that wait to be sent, of all batch loaders of this process. */
export const waitingKeys = { count: 0 };

/** A key that waits to be loaded, and the result that every call for it gets. */
class PendingKey<Key, Value> {
  readonly id: string;
  readonly key: Key;
  readonly queueKey: QueueKey;
  /** The span of the request that needs it first. */
  readonly span: unknown = tracing.active?.current();
  readonly result: Promise<Value | undefined>;
  resolve!: (value: Value | undefined) => void;
  reject!: (error: unknown) => void;

  constructor(id: string, key: Key, queueKey: QueueKey) {
    this.id = id;
    this.key = key;
    this.queueKey = queueKey;
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
export type Load<Key, Value> = (key: Key, queueKey?: QueueKey) => Promise<Value | undefined>;

/**
 * The maximum number of batches of one loader in flight. Meanwhile other keys accumulate, so that under load batches grow
 * and statements become fewer. More than one, so that a slow batch does not block the next one.
 */
const maxInFlight = 2;

/**
 * How many distinct keys may wait while the database is slow; more are rejected immediately, so that memory stays bounded.
 * Callers do not take turns: a statement has the keys of many.
 */
const maxWaiting = 10_000;

/** How many of them one caller may have while others wait too, and how many otherwise: some room stays free. */
const maxWaitingOfCaller = maxWaiting / 4;
const maxWaitingOfOnlyCaller = (maxWaiting * 3) / 4;

/**
 * Creates a loader that sends one statement for all keys that are requested in one turn of the event loop, or while earlier
 * batches are in flight.
 *
 * This is not a cache: every value is read after it was requested, and nothing is kept. A single call waits only for the end
 * of the turn. When a batch fails, each of its calls rejects with the same error.
 *
 * @returns a function that rejects with {@link DatabaseBusy} when too many keys wait, of this caller or in all.
 */
export function createBatchLoader<Key, Value>(options: BatchLoaderOptions<Key, Value>): Load<Key, Value> {
  const { keyOf, load, maxKeys } = options;
  let waiting = new Map<string, PendingKey<Key, Value>>();
  /** How many keys of each caller wait; counted only while enough wait that it matters. */
  let waitingOf: Map<QueueKey, number> | undefined;
  let isScheduled = false;
  let inFlight = 0;

  function dispatch(): void {
    isScheduled = false;
    while (waiting.size > 0 && inFlight < maxInFlight) send(nextBatch());
  }

  function nextBatch(): PendingKey<Key, Value>[] {
    const all = [...waiting];
    // A new map and not `clear`, after which a map's former content still refers to its next: once one content has become
    // old, every later one, dead or not, would become so too, and with it the requests that it holds (twice the memory).
    waiting = new Map(all.slice(maxKeys));
    const batch = all.slice(0, maxKeys).map(([, pending]) => pending);
    waitingOf = undefined;
    waitingKeys.count -= batch.length;
    return batch;
  }

  function send(batch: readonly PendingKey<Key, Value>[]): void {
    inFlight += 1;
    metrics.batchSize.observe(batch.length);
    loadTraced(batch)
      .then(
        (values) => {
          for (const pending of batch) pending.resolve(values.get(pending.id));
        },
        (error) => {
          for (const pending of batch) pending.reject(error);
        },
      )
      .finally(() => {
        inFlight -= 1;
        dispatch();
      });
  }

  function loadTraced(batch: readonly PendingKey<Key, Value>[]): Promise<ReadonlyMap<string, Value>> {
    const keys = batch.map(({ key }) => key);
    if (!tracing.active) return load(keys);
    return tracing.active.shared(
      batch.map(({ span }) => span),
      () => load(keys),
    );
  }

  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(dispatch);
  }

  /** Reserves room for one more key of a caller. @returns false when there is none. */
  function takePlace(queueKey: QueueKey): boolean {
    if (waiting.size < maxWaitingOfCaller) return true;
    waitingOf ??= countByCaller(waiting.values());
    const own = waitingOf.get(queueKey) ?? 0;
    const limit = own === waiting.size ? maxWaitingOfOnlyCaller : maxWaitingOfCaller;
    if (own >= limit || waiting.size >= maxWaiting) return false;
    waitingOf.set(queueKey, own + 1);
    return true;
  }

  return (key, queueKey) => {
    const id = keyOf(key);
    const known = waiting.get(id);
    if (known) return known.result;
    if (!takePlace(queueKey)) return Promise.reject(new DatabaseBusy());
    const pending = new PendingKey<Key, Value>(id, key, queueKey);
    waiting.set(id, pending);
    waitingKeys.count += 1;
    schedule();
    return pending.result;
  };
}

function countByCaller(pendingKeys: Iterable<{ readonly queueKey: QueueKey }>): Map<QueueKey, number> {
  const counts = new Map<QueueKey, number>();
  for (const { queueKey } of pendingKeys) counts.set(queueKey, (counts.get(queueKey) ?? 0) + 1);
  return counts;
}
