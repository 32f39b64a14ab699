/** The length of the window in which the requests of an API token are counted, in seconds. */
export const windowSeconds = 60;

/** The current second, and as many whole ones as the window has: so no 60 seconds have more requests than are permitted. */
const slotCount = windowSeconds + 1;

/** The requests of one API token in the last 60 seconds, by the second. Takes 300 bytes. */
export class RequestWindow {
  private readonly counts = new Uint32Array(slotCount);
  private second: number;
  private sum = 0;

  /** @param second the current second, of any clock that never goes back. */
  constructor(second: number) {
    this.second = second;
  }

  /** The requests up to a second, which must not be before that of an earlier call. */
  total(second: number): number {
    const steps = Math.min(second - this.second, slotCount);
    for (let step = 1; step <= steps; step += 1) {
      const index = (this.second + step) % slotCount;
      this.sum -= this.counts[index] as number;
      this.counts[index] = 0;
    }
    if (second > this.second) this.second = second;
    return this.sum;
  }

  /** Adds requests of the current second or an earlier one; those before the window are ignored. */
  add(second: number, count: number): void {
    if (second <= this.second - slotCount || second > this.second) return;
    // Below zero for requests of other processes from before the start of this one.
    const index = (second + slotCount) % slotCount;
    this.counts[index] = (this.counts[index] as number) + count;
    this.sum += count;
  }

  /**
   * How many seconds from the beginning of the current second it takes, without further requests, until at most `most` remain.
   *
   * @param most fewer than there are now.
   */
  secondsUntil(most: number): number {
    let remaining = this.sum;
    for (let age = slotCount - 1; age > 0; age -= 1) {
      // The oldest first; a second leaves the window when the whole of it is 60 seconds ago.
      remaining -= this.counts[(this.second - age + slotCount) % slotCount] as number;
      if (remaining <= most) return slotCount - age;
    }
    return slotCount;
  }
}
