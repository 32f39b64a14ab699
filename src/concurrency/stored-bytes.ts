const hourSeconds = 3_600;

/** The current hour, and as many whole ones as responses are kept: 24. */
const slotCount = 25;

/** The limits of what is counted, in bytes. */
export interface StoredBytesLimits {
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
  private readonly byApiToken = new Map<number, Float64Array>();
  private hour: number;

  /** @param now the time in seconds, of a clock that never goes back; that of the process by default. */
  constructor(limits: StoredBytesLimits, now: () => number = () => performance.now() / 1_000) {
    this.limits = limits;
    this.now = now;
    this.hour = Math.floor(now() / hourSeconds);
  }

  /**
   * Counts a text that is about to be stored, unless the API token has reached its limit.
   *
   * @returns a function that takes the count back if the text was not stored; undefined if it must not be stored.
   */
  admit(apiTokenId: number, bytes: number): (() => void) | undefined {
    if (bytes < this.limits.minBytes) return () => {};
    this.forgetOld();
    const slots = this.byApiToken.get(apiTokenId);
    if (bytes + (slots ? total(slots) : 0) > this.limits.maxBytes) return undefined;
    return this.count(apiTokenId, bytes);
  }

  /**
   * In how many seconds the API token may store something again: 0 if it has not reached its limit. For what is measured only
   * when it is stored, and then counted.
   */
  secondsUntilRoom(apiTokenId: number): number {
    this.forgetOld();
    const slots = this.byApiToken.get(apiTokenId);
    if (!slots) return 0;
    let stored = total(slots);
    let hour = this.hour;
    while (stored >= this.limits.maxBytes && hour < this.hour + slotCount) {
      hour += 1;
      stored -= slots[hour % slotCount] as number;
    }
    return hour === this.hour ? 0 : Math.ceil(hour * hourSeconds - this.now());
  }

  /** Counts a text that is stored, also beyond the limit. @returns a function that takes the count back. */
  count(apiTokenId: number, bytes: number): () => void {
    if (bytes < this.limits.minBytes) return () => {};
    this.forgetOld();
    const slots = this.byApiToken.get(apiTokenId) ?? new Float64Array(slotCount);
    const { hour } = this;
    const add = (count: number) => {
      const index = hour % slotCount;
      slots[index] = (slots[index] as number) + count;
    };
    add(bytes);
    this.byApiToken.set(apiTokenId, slots);
    return () => {
      this.forgetOld();
      if (this.hour < hour + slotCount) add(-bytes); // otherwise the slot is another hour's
    };
  }

  private forgetOld(): void {
    const hour = Math.floor(this.now() / hourSeconds);
    const passed = Math.min(hour - this.hour, slotCount);
    for (const [apiTokenId, slots] of passed > 0 ? this.byApiToken : []) {
      for (let step = 1; step <= passed; step += 1) slots[(this.hour + step) % slotCount] = 0;
      if (slots.every((each) => each === 0)) this.byApiToken.delete(apiTokenId);
    }
    this.hour = hour;
  }
}

const total = (slots: Float64Array): number => slots.reduce((sum, each) => sum + each, 0);
