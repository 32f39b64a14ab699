import { type AddRequestCounts, keptSeconds } from '../database/queries/request-counts.ts';
import type { Caller } from './caller.ts';
import { RateLimited } from './errors.ts';
import { RequestWindow, windowSeconds } from './request-window.ts';

/** The message of a refusal. */
export const rateLimited = (limit: number, retryAfterSeconds: number): string =>
  `The API token has sent ${limit} requests within ${windowSeconds} seconds, the most that are permitted. Nothing was changed. ` +
  `Send it again after ${retryAfterSeconds} seconds.`;

/** What an API token may still send. */
export interface Quota {
  /** How many requests are permitted now. */
  readonly remaining: number;
  /** In how many seconds more are permitted, if there are no requests until then; 0 if no request is counted. */
  readonly seconds: number;
}

/** How many seconds from before the last call are read again: as long as another statement may take to commit its counts. */
const overlapSeconds = 3;

/**
 * Limits the requests that each API token may send in 60 seconds, over all processes that share their counts. A sliding window:
 * requests count until they are 60 seconds old, rounded up to whole seconds. Refused requests do not count.
 *
 * Its memory is bounded by the API tokens that were used within the last minute.
 */
export class RateLimiter {
  /** Requests per 60 seconds and API token. */
  readonly limit: number;
  private readonly now: () => number;
  private readonly windows = new Map<number, RequestWindow>();
  /** The requests that no other process knows yet, by API token. */
  private unshared = new Map<number, number>();
  /** Of the last seconds of the database's clock, which requests of all processes are in the windows, by API token. */
  private readonly known = new Map<number, Map<number, number>>();
  private sharedAt = Number.NEGATIVE_INFINITY;

  /** @param now the time in seconds, of a clock that never goes back; that of the process by default. */
  constructor(limit: number, now: () => number = () => performance.now() / 1_000) {
    this.limit = limit;
    this.now = now;
  }

  /** Counts a request. @throws RateLimited, uncounted, when the API token of the caller has sent as many as are permitted. */
  admit(caller: Caller): void {
    const { apiToken } = caller;
    if (!apiToken) return;
    const now = this.now();
    const second = Math.floor(now);
    const window = this.windowOf(apiToken.id, second);
    if (window.total(second) >= this.limit) {
      const retryAfterSeconds = Math.ceil(second + window.secondsUntil(this.limit - 1) - now);
      throw new RateLimited(caller, rateLimited(this.limit, retryAfterSeconds), retryAfterSeconds);
    }
    window.add(second, 1);
    this.unshared.set(apiToken.id, (this.unshared.get(apiToken.id) ?? 0) + 1);
  }

  /** What an API token may still send. */
  quotaOf(apiTokenId: number): Quota {
    const now = this.now();
    const second = Math.floor(now);
    const window = this.windows.get(apiTokenId);
    const total = window?.total(second) ?? 0;
    if (!window || total === 0) return { remaining: this.limit, seconds: 0 };
    // More than are permitted, if several processes admitted requests before they knew of each other's.
    const free = Math.min(total, this.limit);
    return { remaining: this.limit - free, seconds: Math.ceil(second + window.secondsUntil(free - 1) - now) };
  }

  /**
   * Adds what was admitted since the last call to what all processes have admitted, and counts what the others have. One call at
   * a time. Rejects when the database fails: then the others do not get to know what was admitted since the last call.
   */
  async share(addRequestCounts: AddRequestCounts): Promise<void> {
    const added = this.unshared;
    this.unshared = new Map();
    const sentAt = this.now();
    const ageSeconds = Math.min(keptSeconds, Math.ceil(sentAt - this.sharedAt) + overlapSeconds);
    const { second, counts } = await addRequestCounts(added, ageSeconds);
    this.sharedAt = sentAt;
    for (const [apiTokenId, count] of added) this.know(second, apiTokenId, count);
    const now = Math.floor(this.now());
    for (const each of counts) {
      const ofOthers = each.count - (this.known.get(each.second)?.get(each.apiTokenId) ?? 0);
      if (ofOthers <= 0) continue;
      this.know(each.second, each.apiTokenId, ofOthers);
      const window = this.windowOf(each.apiTokenId, now);
      window.total(now);
      window.add(now - (second - each.second), ofOthers);
    }
    // Twice as many as are read again, because times are rounded.
    for (const known of this.known.keys()) if (known < second - 2 * overlapSeconds) this.known.delete(known);
    for (const [id, window] of this.windows) if (window.total(now) === 0) this.windows.delete(id);
  }

  private know(second: number, apiTokenId: number, count: number): void {
    const counts = this.known.get(second) ?? new Map<number, number>();
    this.known.set(second, counts.set(apiTokenId, (counts.get(apiTokenId) ?? 0) + count));
  }

  private windowOf(apiTokenId: number, second: number): RequestWindow {
    const known = this.windows.get(apiTokenId);
    if (known) return known;
    const created = new RequestWindow(second);
    this.windows.set(apiTokenId, created);
    return created;
  }
}
