/** How often deadlines are looked at: one that passes is noticed at most so much later. */
const intervalMs = 250;

/** Something that must end in time. */
export interface Deadline {
  /** By the clock of {@link Deadlines}; infinite while nothing is waited for. */
  expiresAtMs: number;
  readonly onExpired: () => void;
}

/** Many deadlines with one timer, because most never expire, and a timer for each would cost more than the rest of it. */
export class Deadlines {
  private readonly pending = new Set<Deadline>();
  private readonly timer: NodeJS.Timeout;
  private nowMs = performance.now();

  constructor() {
    this.timer = setInterval(() => this.expire(), intervalMs).unref();
  }

  /** Starts one: `onExpired` is called once, after `limitMs` and at most a quarter of a second, unless it was ended. */
  start(limitMs: number, onExpired: () => void): Deadline {
    const deadline = { expiresAtMs: this.nowMs + limitMs, onExpired };
    this.pending.add(deadline);
    return deadline;
  }

  /** Gives one `limitMs` from now. */
  restart(deadline: Deadline, limitMs: number): void {
    deadline.expiresAtMs = this.nowMs + limitMs;
  }

  /** Ends one that was met. */
  end(deadline: Deadline): void {
    this.pending.delete(deadline);
  }

  /** Ends all of them, none having expired. */
  close(): void {
    clearInterval(this.timer);
    this.pending.clear();
  }

  private expire(): void {
    this.nowMs = performance.now();
    for (const deadline of this.pending) {
      if (deadline.expiresAtMs > this.nowMs) continue;
      this.pending.delete(deadline);
      deadline.onExpired();
    }
  }
}
