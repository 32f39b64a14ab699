import { GatewayError, nothingChanged } from '../errors.ts';

/** What queues are fair between: the id of an API token; `undefined` for callers without a credential. */
export type QueueKey = number | undefined;

/**
 * A bounded queue that serves its keys round-robin, so that a busy key delays each of the others by one item at a time. A key may
 * hold three quarters of the capacity, or a quarter while others wait; callers without a credential never hold more than a
 * quarter. An item takes 1 of the capacity, or its weight; the first item of a key may exceed that key's limit.
 */
export class FairQueue<Item> {
  private readonly maxWeight: number;
  private readonly weightOf: (item: Item) => number;
  /** In the order in which they are served; none is empty. */
  private readonly items = new Map<QueueKey, Item[]>();
  private weight = 0;
  private count = 0;

  /** @param maxWeight the capacity. @param weightOf how much of it an item takes; constant for an item. */
  constructor(maxWeight: number, weightOf: (item: Item) => number = () => 1) {
    this.maxWeight = maxWeight;
    this.weightOf = weightOf;
  }

  /** The number of queued items. */
  get size(): number {
    return this.count;
  }

  /** Adds an item. @returns false, without adding it, if there is no room left for its key. */
  push(queueKey: QueueKey, item: Item): boolean {
    const own = this.items.get(queueKey);
    const weight = this.weightOf(item);
    const held = own ? this.total(own) : 0;
    if (this.weight + weight > this.maxWeight || (own && held + weight > this.limitOf(queueKey, held))) return false;
    if (own) own.push(item);
    else this.items.set(queueKey, [item]);
    this.weight += weight;
    this.count += 1;
    return true;
  }

  /** Removes and returns the next item of a key that `isEligible`; `undefined` if there is none. */
  shift(isEligible: (queueKey: QueueKey) => boolean = () => true): Item | undefined {
    for (const [queueKey, own] of this.items) {
      if (!isEligible(queueKey)) continue;
      const item = own.shift() as Item;
      this.items.delete(queueKey);
      if (own.length > 0) this.items.set(queueKey, own); // behind the others
      this.weight -= this.weightOf(item);
      this.count -= 1;
      return item;
    }
    return undefined;
  }

  /** Removes and returns the items that `isObsolete`. The others keep their order. */
  removeWhere(isObsolete: (item: Item) => boolean): Item[] {
    const removed: Item[] = [];
    for (const [queueKey, own] of this.items) {
      const kept = own.filter((item) => !isObsolete(item) || !removed.push(item));
      if (kept.length > 0) this.items.set(queueKey, kept);
      else this.items.delete(queueKey);
    }
    this.weight -= this.total(removed);
    this.count -= removed.length;
    return removed;
  }

  private total(items: readonly Item[]): number {
    return items.reduce((sum, item) => sum + this.weightOf(item), 0);
  }

  private limitOf(queueKey: QueueKey, held: number): number {
    const isAlone = queueKey !== undefined && held === this.weight;
    return Math.ceil(this.maxWeight * (isAlone ? 0.75 : 0.25));
  }
}

/** Bounds the number of pieces of work in progress; for callers without a credential, to one. */
export interface Semaphore {
  /** Runs `work` as soon as there is a free permit. @throws GatewayError `UNAVAILABLE` when too many wait; what `work` throws. */
  run<Result>(queueKey: QueueKey, work: () => Promise<Result>): Promise<Result>;
  /** The number of pieces of work that wait. */
  readonly waiting: number;
}

/**
 * Creates a semaphore.
 *
 * @param permits the maximum in progress.
 * @param maxWaiting the maximum waiting for a permit.
 * @param what names them in the error when too many wait.
 */
export function createSemaphore(permits: number, maxWaiting: number, what?: string): Semaphore {
  const waiting = new FairQueue<() => void>(maxWaiting);
  let free = permits;
  let isAnonymousRunning = false;

  const isEligible = (queueKey: QueueKey): boolean => free > 0 && (queueKey !== undefined || !isAnonymousRunning);

  function take(queueKey: QueueKey): void {
    free -= 1;
    if (queueKey === undefined) isAnonymousRunning = true;
  }

  function release(queueKey: QueueKey): void {
    free += 1;
    if (queueKey === undefined) isAnonymousRunning = false;
    waiting.shift(isEligible)?.();
  }

  function acquire(queueKey: QueueKey): Promise<void> | undefined {
    if (isEligible(queueKey)) return void take(queueKey);
    return new Promise((resolve, reject) => {
      const admit = () => {
        take(queueKey);
        resolve();
      };
      if (!waiting.push(queueKey, admit)) reject(overloaded(what));
    });
  }

  return {
    get waiting() {
      return waiting.size;
    },
    async run(queueKey, work) {
      await acquire(queueKey);
      try {
        return await work();
      } finally {
        release(queueKey);
      }
    },
  };
}

function overloaded(what = 'large requests'): GatewayError {
  return new GatewayError(
    'UNAVAILABLE',
    `Too many ${what} are waiting to be processed. ${nothingChanged}Try again after the number of seconds in the Retry-After header.`,
  );
}
