import type { QueueKey } from '../concurrency/fair-queue.ts';

/**
 * Bounds the number of bytes that all requests together hold in memory. One API token may hold half of them; callers without a
 * valid one share a quarter.
 */
export class ByteBudget {
  private readonly maxBytes: number;
  private readonly heldBy = new Map<QueueKey, number>();
  private held = 0;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  /** How many bytes may be reserved for a `queueKey`. */
  roomFor(queueKey: QueueKey): number {
    const own = this.maxBytes / (queueKey === undefined ? 4 : 2) - (this.heldBy.get(queueKey) ?? 0);
    return Math.min(own, this.maxBytes - this.held);
  }

  /** Reserves `bytes`. @returns false, and reserves nothing, if they exceed the budget. */
  take(bytes: number, queueKey: QueueKey): boolean {
    if (bytes > this.roomFor(queueKey)) return false;
    this.held += bytes;
    this.heldBy.set(queueKey, (this.heldBy.get(queueKey) ?? 0) + bytes);
    return true;
  }

  /** Releases bytes that were reserved. */
  release(bytes: number, queueKey: QueueKey): void {
    const own = (this.heldBy.get(queueKey) ?? 0) - bytes;
    this.held -= bytes;
    if (own > 0) this.heldBy.set(queueKey, own);
    else this.heldBy.delete(queueKey);
  }
}
