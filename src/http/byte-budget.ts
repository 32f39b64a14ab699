import type { Share } from '../fair-queue.ts';

/**
 * Bounds the number of bytes that all requests together hold in memory. One API token may hold half of them; callers without a
 * valid one share a quarter.
 */
export class ByteBudget {
  private readonly maxBytes: number;
  private readonly heldBy = new Map<Share, number>();
  private held = 0;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  /** Reserves `bytes`. @returns false, and reserves nothing, if they exceed the budget. */
  take(bytes: number, share: Share): boolean {
    const own = (this.heldBy.get(share) ?? 0) + bytes;
    if (this.held + bytes > this.maxBytes || own > this.maxBytes / (share === undefined ? 4 : 2)) return false;
    this.held += bytes;
    this.heldBy.set(share, own);
    return true;
  }

  /** Releases bytes that were reserved. */
  release(bytes: number, share: Share): void {
    const own = (this.heldBy.get(share) ?? 0) - bytes;
    this.held -= bytes;
    if (own > 0) this.heldBy.set(share, own);
    else this.heldBy.delete(share);
  }
}
