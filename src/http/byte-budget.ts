/** Bounds how many bytes are held in memory by all requests together, and by those without an accepted API token. */
export class ByteBudget {
  private readonly max: number;
  private readonly maxAnonymous: number;
  private held = 0;
  private heldAnonymous = 0;

  /** @param maxAnonymous the part of `max` that requests without an accepted API token share. */
  constructor(max: number, maxAnonymous = max) {
    this.max = max;
    this.maxAnonymous = maxAnonymous;
  }

  /** Takes `bytes` out of the budget. False, and nothing is taken, where they do not fit. */
  take(bytes: number, isAnonymous: boolean): boolean {
    if (this.held + bytes > this.max) return false;
    if (isAnonymous && this.heldAnonymous + bytes > this.maxAnonymous) return false;
    this.held += bytes;
    if (isAnonymous) this.heldAnonymous += bytes;
    return true;
  }

  /** Gives back what was taken. */
  release(bytes: number, isAnonymous: boolean): void {
    this.held -= bytes;
    if (isAnonymous) this.heldAnonymous -= bytes;
  }
}
