/** On whose behalf something is done: the id of an API token; `undefined` for callers without a credential. */
export type Share = number | undefined;

/**
 * A bounded queue that serves shares round-robin, so that a busy share delays each of the others by one item at a time. A share
 * may hold three quarters of the places, or a quarter while other shares wait; callers without a credential never hold more
 * than a quarter. An item takes one place, or as many as its weight; the first item of a share may exceed the share's limit.
 */
export class FairQueue<Item> {
  private readonly maxWeight: number;
  private readonly weightOf: (item: Item) => number;
  /** In the order in which they are served; none is empty. */
  private readonly items = new Map<Share, Item[]>();
  private weight = 0;
  private count = 0;

  /** @param maxWeight the number of places. @param weightOf how many places an item takes; constant for an item. */
  constructor(maxWeight: number, weightOf: (item: Item) => number = () => 1) {
    this.maxWeight = maxWeight;
    this.weightOf = weightOf;
  }

  /** The number of queued items. */
  get size(): number {
    return this.count;
  }

  /** Adds an item. @returns false, without adding it, if the share has no place left. */
  push(share: Share, item: Item): boolean {
    const own = this.items.get(share);
    const weight = this.weightOf(item);
    const held = own ? this.total(own) : 0;
    if (this.weight + weight > this.maxWeight || (own && held + weight > this.limitOf(share, held))) return false;
    if (own) own.push(item);
    else this.items.set(share, [item]);
    this.weight += weight;
    this.count += 1;
    return true;
  }

  /** Removes and returns the next item of a share that `isEligible`; `undefined` if there is none. */
  shift(isEligible: (share: Share) => boolean = () => true): Item | undefined {
    for (const [share, own] of this.items) {
      if (!isEligible(share)) continue;
      const item = own.shift() as Item;
      this.items.delete(share);
      if (own.length > 0) this.items.set(share, own); // behind the others
      this.weight -= this.weightOf(item);
      this.count -= 1;
      return item;
    }
    return undefined;
  }

  /** Removes and returns the items that `isObsolete`. The others keep their order. */
  removeWhere(isObsolete: (item: Item) => boolean): Item[] {
    const removed: Item[] = [];
    for (const [share, own] of this.items) {
      const kept = own.filter((item) => !isObsolete(item) || !removed.push(item));
      if (kept.length > 0) this.items.set(share, kept);
      else this.items.delete(share);
    }
    this.weight -= this.total(removed);
    this.count -= removed.length;
    return removed;
  }

  private total(items: readonly Item[]): number {
    return items.reduce((sum, item) => sum + this.weightOf(item), 0);
  }

  private limitOf(share: Share, held: number): number {
    const isAlone = share !== undefined && held === this.weight;
    return Math.ceil(this.maxWeight * (isAlone ? 0.75 : 0.25));
  }
}
