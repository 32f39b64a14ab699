import DataLoader from 'dataloader';
import { metrics } from '../metrics/metrics.ts';

/** Reads what belongs to a key; undefined if there is nothing. */
export type Read<Key, Value> = (key: Key) => Promise<Value | undefined>;

/** The most keys of a statement: enough for every request of a turn, small enough not to hold up other statements. */
const maxKeys = 512;

/**
 * A read that requests share: keys that are asked for in one turn of the event loop are read in one statement. It is no cache:
 * every value is read after it was asked for.
 *
 * @param load takes keys, also the same one twice, and returns the value of each, in their order.
 * @param isShared false in a transaction, which one request has: each key is read by itself.
 */
export function sharedRead<Key, Value>(
  load: (keys: readonly Key[]) => Promise<readonly (Value | undefined)[]>,
  isShared: boolean,
): Read<Key, Value> {
  if (!isShared) return async (key) => (await load([key]))[0];
  const loadAll = (keys: readonly Key[]) => {
    metrics.batchSize.observe(keys.length);
    return load(keys);
  };
  const loader = new DataLoader<Key, Value | undefined>(loadAll, {
    cache: false,
    maxBatchSize: maxKeys,
    batchScheduleFn: setImmediate,
  });
  return (key) => loader.load(key);
}
