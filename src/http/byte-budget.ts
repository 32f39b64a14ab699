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

  /** How many bytes may be reserved on behalf of `share`. */
  roomFor(share: Share): number {
    const own = this.maxBytes / (share === undefined ? 4 : 2) - (this.heldBy.get(share) ?? 0);
    return Math.min(own, this.maxBytes - this.held);
  }

  /** Reserves `bytes`. @returns false, and reserves nothing, if they exceed the budget. */
  take(bytes: number, share: Share): boolean {
    if (bytes > this.roomFor(share)) return false;
    this.held += bytes;
    this.heldBy.set(share, (this.heldBy.get(share) ?? 0) + bytes);
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
