import { httpLimits, httpTimeouts } from './limits.ts';

/** How many postponed rejections are sent in a turn of the event loop that accepted no connection. */
const sentPerIdleTurn = 8;
/**
 * How many of those that have waited long enough are sent in a turn that did: a turn accepts only one, so others wait for each.
 */
const sentPerBusyTurn = 1;

/**
 * Postpones the rejection of requests whose body was not read until no new connections arrive, because it costs more than
 * accepting a connection and reading a request, and requests that arrive in the meantime may be worth serving. A flood of such
 * requests then delays others far less. Bounded in number and in time: without new connections, the delay is a turn of the event
 * loop.
 */
export class Rejections {
  private waiting: { readonly send: () => void; readonly addedMs: number }[] = [];
  private next = 0;
  private isScheduled = false;
  private hasAccepted = false;

  /** Call it for each connection that is accepted. */
  readonly connectionAccepted = (): void => {
    this.hasAccepted = true;
  };

  /** Calls `send` once, soon; at once when too many wait. It must not throw. */
  add(send: () => void): void {
    if (this.waiting.length - this.next >= httpLimits.maxPostponedRejections) return void send();
    this.waiting.push({ send, addedMs: performance.now() });
    this.schedule();
  }

  private schedule(): void {
    if (this.isScheduled) return;
    this.isScheduled = true;
    setImmediate(this.turn);
  }

  private readonly turn = (): void => {
    this.isScheduled = false;
    const maxSent = this.hasAccepted ? sentPerBusyTurn : sentPerIdleTurn;
    const dueMs = this.hasAccepted ? performance.now() - httpTimeouts.rejectionPostponedMs : Number.POSITIVE_INFINITY;
    this.hasAccepted = false;
    for (let sent = 0; sent < maxSent; sent += 1) {
      const first = this.waiting[this.next];
      if (!first || first.addedMs > dueMs) break;
      this.next += 1;
      first.send();
    }
    if (this.next === this.waiting.length || this.next >= httpLimits.maxPostponedRejections) {
      this.waiting = this.waiting.slice(this.next); // or those that were sent would stay in memory
      this.next = 0;
    }
    if (this.waiting.length > 0) this.schedule();
  };
}
