import type { Share } from '../fair-queue.ts';

/**
 * Bounds how many bytes are held in memory by all requests together. One API token may hold half of them; callers without an
 * accepted one share a quarter.
 */
export class ByteBudget {
  private readonly maxBytes: number;
  private readonly heldBy = new Map<Share, number>();
  private held = 0;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  /** Takes `bytes` out of the budget. False, and nothing is taken, where they do not fit. */
  take(bytes: number, share: Share): boolean {
    const own = (this.heldBy.get(share) ?? 0) + bytes;
    if (this.held + bytes > this.maxBytes || own > this.maxBytes / (share === undefined ? 4 : 2)) return false;
    this.held += bytes;
    this.heldBy.set(share, own);
    return true;
  }

  /** Gives back what was taken. */
  release(bytes: number, share: Share): void {
    const own = (this.heldBy.get(share) ?? 0) - bytes;
    this.held -= bytes;
    if (own > 0) this.heldBy.set(share, own);
    else this.heldBy.delete(share);
  }
}
