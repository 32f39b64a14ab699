const hourSeconds = 3_600;

/** The current hour, and as many whole ones as responses are kept: 24. */
const slotCount = 25;

/** The limits of what is counted, in bytes. */
export interface StoredBytesLimits {
  /** Smaller responses do not count: a request that changes something stores about as much anyway. */
  readonly minBytes: number;
  /** How much an API token may store in 24 hours. */
  readonly maxBytes: number;
}

/**
 * Counts the bytes of the large responses that each API token had this process store within the last 24 hours, rounded up to
 * whole hours: a short request could store as much as the largest response has, as often as it is sent.
 *
 * Its memory is bounded by the API tokens that stored large responses within that time.
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
   * Counts a response that is about to be stored, unless the API token has reached its limit.
   *
   * @returns a function that takes the count back if the response was not stored; undefined if it must not be stored.
   */
  admit(apiTokenId: number, bytes: number): (() => void) | undefined {
    if (bytes < this.limits.minBytes) return () => {};
    this.forgetOld();
    const slots = this.byApiToken.get(apiTokenId) ?? new Float64Array(slotCount);
    if (slots.reduce((sum, each) => sum + each, bytes) > this.limits.maxBytes) return undefined;
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
