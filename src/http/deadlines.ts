/** How often deadlines are checked: one that passes is noticed about this much later. */
const intervalMs = 250;

/** Something that must end in time. The fields belong to {@link Deadlines} while it is pending. */
export interface Expiring {
  expiresAtMs: number;
  slot: number;
  /** Called once, when the time is over. */
  expire(): void;
}

/**
 * Many deadlines with one timer, because most never expire, and a timer for each would cost more than the rest of it. They are
 * kept in an array and not in a set: a set's former tables keep alive what its later ones hold, and with it whole requests.
 */
export class Deadlines {
  private readonly slots: (Expiring | undefined)[] = [];
  private readonly free: number[] = [];
  private readonly timer: NodeJS.Timeout;
  private checkedMs = performance.now();

  constructor() {
    this.timer = setInterval(() => this.check(), intervalMs).unref();
  }

  /** Starts one that expires after `limitMs`, a quarter of a second more or less, unless it is ended. */
  start(item: Expiring, limitMs: number): void {
    this.restart(item, limitMs);
    item.slot = this.free.pop() ?? this.slots.length;
    this.slots[item.slot] = item;
  }

  /** Gives one that is pending `limitMs` from now. */
  restart(item: Expiring, limitMs: number): void {
    // The clock is read once for all: what was started since the last check gets that much more.
    item.expiresAtMs = this.checkedMs + intervalMs + limitMs;
  }

  /** Ends one; does nothing if it has expired. */
  end(item: Expiring): void {
    if (this.slots[item.slot] !== item) return;
    this.slots[item.slot] = undefined;
    this.free.push(item.slot);
  }

  /** Stops looking. */
  close(): void {
    clearInterval(this.timer);
  }

  private check(): void {
    const nowMs = performance.now();
    // While the event loop was occupied nothing could be received or sent: that time does not count.
    const lagMs = nowMs - this.checkedMs - intervalMs;
    this.checkedMs = nowMs;
    for (const item of this.slots) {
      if (!item) continue;
      if (lagMs > intervalMs) item.expiresAtMs += lagMs;
      if (item.expiresAtMs > nowMs) continue;
      this.end(item);
      item.expire();
    }
  }
}
