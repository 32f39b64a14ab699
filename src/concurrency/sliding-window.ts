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

const hourSeconds = 3_600;

/** The current hour, and as many whole ones as responses are kept: 24. */
const slotCount = 25;

/** The limits of what is counted, in bytes. */
interface StoredBytesLimits {
  /** Smaller texts do not count, such as those that take less than what a request stores anyway. At least 1. */
  readonly minBytes: number;
  /** How much an API token may store in 24 hours. */
  readonly maxBytes: number;
}

/**
 * Counts the bytes of the texts of one kind, such as responses, that each API token had this process store within the last
 * 24 hours, rounded up to whole hours: a short request could store as much as the largest text has, as often as it is sent.
 *
 * Its memory is bounded by the API tokens that stored some within that time.
 */
export class StoredBytes {
  private readonly limits: StoredBytesLimits;
  private readonly now: () => number;
  private readonly windows = new Map<number, SlidingWindow>();
  private sweptHour = 0;

  /** @param now the time in seconds, of a clock that never goes back; that of the process by default. */
  constructor(limits: StoredBytesLimits, now: () => number = () => performance.now() / 1_000) {
    this.limits = limits;
    this.now = now;
  }

  /**
   * Counts a text that is about to be stored, unless the API token has reached its limit.
   *
   * @returns a function that takes the count back if the text was not stored; undefined if it must not be stored.
   */
  admit(apiTokenId: number, bytes: number): (() => void) | undefined {
    const { minBytes, maxBytes } = this.limits;
    const stored = this.windows.get(apiTokenId)?.total(this.hour()) ?? 0;
    return bytes >= minBytes && bytes + stored > maxBytes ? undefined : this.count(apiTokenId, bytes);
  }

  /**
   * In how many seconds the API token may store something again: 0 if it has not reached its limit. For what is measured only
   * when it is stored, and then counted.
   */
  secondsUntilRoom(apiTokenId: number): number {
    const { maxBytes } = this.limits;
    const hour = this.hour();
    const window = this.windows.get(apiTokenId);
    if (!window || window.total(hour) < maxBytes) return 0;
    return Math.ceil((hour + window.slotsUntil(maxBytes - 1)) * hourSeconds - this.now());
  }

  /** Counts a text that is stored, also beyond the limit. @returns a function that takes the count back. */
  count(apiTokenId: number, bytes: number): () => void {
    if (bytes < this.limits.minBytes) return () => {};
    const hour = this.hour();
    const window = this.windows.get(apiTokenId) ?? new SlidingWindow(slotCount, hour);
    this.windows.set(apiTokenId, window);
    const add = (count: number) => {
      window.total(this.hour());
      window.add(hour, count);
    };
    add(bytes);
    return () => add(-bytes);
  }

  /** The current hour. Once in each, forgets the API tokens that have stored nothing within the window. */
  private hour(): number {
    const hour = Math.floor(this.now() / hourSeconds);
    if (hour > this.sweptHour) for (const [id, window] of this.windows) if (window.total(hour) === 0) this.windows.delete(id);
    this.sweptHour = hour;
    return hour;
  }
}
