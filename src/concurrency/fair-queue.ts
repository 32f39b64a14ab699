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
