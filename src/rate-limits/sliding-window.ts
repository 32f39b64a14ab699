/** What was counted in the last slots of time, such as seconds: the current one, and those before it. */
export class SlidingWindow {
  private readonly counts: Float64Array;
  private slot: number;
  private sum = 0;

  /** @param slotCount how many slots it has. @param slot the current one, of any clock that never goes back. */
  constructor(slotCount: number, slot: number) {
    this.counts = new Float64Array(slotCount);
    this.slot = slot;
  }

  /** What was counted up to a slot, which must not be before that of an earlier call. */
  total(slot: number): number {
    const { length } = this.counts;
    const steps = Math.min(slot - this.slot, length);
    for (let step = 1; step <= steps; step += 1) {
      const index = (this.slot + step) % length;
      this.sum -= this.counts[index] as number;
      this.counts[index] = 0;
    }
    if (slot > this.slot) this.slot = slot;
    return this.sum;
  }

  /** Counts in the current slot or an earlier one; what is before the window is ignored. */
  add(slot: number, count: number): void {
    const { length } = this.counts;
    if (slot <= this.slot - length || slot > this.slot) return;
    // Below zero for what other processes counted before the start of this one.
    const index = (slot + length) % length;
    this.counts[index] = (this.counts[index] as number) + count;
    this.sum += count;
  }

  /**
   * How many slots from the beginning of the current one it takes until at most `most` remains, if nothing is counted until then.
   *
   * @param most less than there is now.
   */
  slotsUntil(most: number): number {
    const { length } = this.counts;
    let remaining = this.sum;
    for (let age = length - 1; age > 0; age -= 1) {
      // The oldest first.
      remaining -= this.counts[(this.slot - age + length) % length] as number;
      if (remaining <= most) return length - age;
    }
    return length;
  }
}
