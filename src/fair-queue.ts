/** On whose behalf something is done: the id of an API token; none for callers without a credential. */
export type Share = number | undefined;

/**
 * A bounded queue that serves shares in turn, so that one that has much in it delays the others by one item each. A share may hold three quarters of the
 * places, or a quarter while other shares wait; callers without a credential never hold more than a quarter.
 */
export class FairQueue<Item> {
  private readonly maxItems: number;
  /** In the order in which they are served; none is empty. */
  private readonly items = new Map<Share, Item[]>();
  private count = 0;

  constructor(maxItems: number) {
    this.maxItems = maxItems;
  }

  /** How many items wait. */
  get size(): number {
    return this.count;
  }

  /** Adds an item. False, and it is not added, where there is no room for the share. */
  push(share: Share, item: Item): boolean {
    const own = this.items.get(share);
    const held = own?.length ?? 0;
    if (this.count >= this.maxItems || held >= this.limitOf(share, held)) return false;
    if (own) own.push(item);
    else this.items.set(share, [item]);
    this.count += 1;
    return true;
  }

  /** Takes the next item out, of a share that `isEligible`. Nothing where there is none. */
  shift(isEligible: (share: Share) => boolean = () => true): Item | undefined {
    for (const [share, own] of this.items) {
      if (!isEligible(share)) continue;
      const item = own.shift();
      this.items.delete(share);
      if (own.length > 0) this.items.set(share, own); // behind the others
      this.count -= 1;
      return item;
    }
    return undefined;
  }

  private limitOf(share: Share, held: number): number {
    const isAlone = share !== undefined && held === this.count;
    return Math.ceil(this.maxItems * (isAlone ? 0.75 : 0.25));
  }
}
