import type { Caller } from './caller.ts';
import { GatewayError } from './errors.ts';
import { RequestWindow, windowSeconds } from './request-window.ts';

/** The message of {@link RateLimited}. */
export const rateLimited = (limit: number, retryAfterSeconds: number): string =>
  `The API token has sent ${limit} requests within ${windowSeconds} seconds, the most that are permitted. Nothing was changed. ` +
  `Send it again after ${retryAfterSeconds} seconds.`;

/** The caller has used up the requests that an API token may send in 60 seconds. Nothing was executed. */
export class RateLimited extends GatewayError {
  readonly caller: Caller;

  /** @param retryAfterSeconds when another request is permitted, if there are none until then: 1 to 61. */
  constructor(caller: Caller, limit: number, retryAfterSeconds: number) {
    super('RATE_LIMITED', rateLimited(limit, retryAfterSeconds), { retryAfterSeconds });
    this.caller = caller;
  }
}

/** What an API token may still send. */
export interface Quota {
  /** How many requests are permitted now. */
  readonly remaining: number;
  /** In how many seconds more are permitted, if there are no requests until then; 0 if no request is counted. */
  readonly seconds: number;
}

/** Requests of an API token in one second. */
export interface RequestCount {
  readonly apiTokenId: number;
  /** How long ago that second was. */
  readonly ageSeconds: number;
  readonly count: number;
}

/** The counts of one second that other processes do not know yet, by API token. */
interface Unshared {
  readonly second: number;
  readonly counts: Map<number, number>;
}

/**
 * Limits the requests that each API token may send in 60 seconds, over all processes that exchange their counts. A sliding
 * window: requests count until they are 60 seconds old, rounded up to whole seconds. Refused requests do not count.
 *
 * Its memory is bounded by the API tokens that were used within the last minute.
 */
export class RateLimiter {
  /** Requests per 60 seconds and API token. */
  readonly limit: number;
  private readonly windows = new Map<number, RequestWindow>();
  private readonly now: () => number;
  private unshared: Unshared[] = [];

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
      throw new RateLimited(caller, this.limit, Math.ceil(second + window.secondsUntil(this.limit - 1) - now));
    }
    window.add(second, 1);
    const { counts } = this.unsharedOf(second);
    counts.set(apiToken.id, (counts.get(apiToken.id) ?? 0) + 1);
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

  /** Returns what was counted since the last call, for other processes. @param maxAgeSeconds older counts are left out. */
  takeUnshared(maxAgeSeconds = windowSeconds): readonly Unshared[] {
    const oldest = Math.floor(this.now()) - maxAgeSeconds;
    const taken = this.unshared.filter(({ second }) => second >= oldest);
    this.unshared = [];
    return taken;
  }

  /** What was counted in these seconds, with the age that it has now. */
  withAges(taken: readonly Unshared[]): RequestCount[] {
    const now = Math.floor(this.now());
    return taken.flatMap(({ second, counts }) =>
      [...counts].map(([apiTokenId, count]) => ({ apiTokenId, ageSeconds: now - second, count })),
    );
  }

  /** Adds what another process has counted. No number permits more requests, or none for more than 60 seconds. */
  addOthers(others: readonly RequestCount[]): void {
    const now = this.now();
    const second = Math.floor(now);
    for (const { apiTokenId, ageSeconds, count } of others) {
      if (!Number.isInteger(count) || count <= 0 || !Number.isFinite(ageSeconds)) continue;
      const window = this.windowOf(apiTokenId, second);
      window.total(second);
      window.add(Math.floor(now - ageSeconds), Math.min(count, this.limit));
    }
  }

  /** Forgets the API tokens without a request within the last minute. */
  forgetUnused(): void {
    const second = Math.floor(this.now());
    for (const [id, window] of this.windows) if (window.total(second) === 0) this.windows.delete(id);
  }

  private windowOf(apiTokenId: number, second: number): RequestWindow {
    const known = this.windows.get(apiTokenId);
    if (known) return known;
    const created = new RequestWindow(second);
    this.windows.set(apiTokenId, created);
    return created;
  }

  private unsharedOf(second: number): Unshared {
    const last = this.unshared.at(-1);
    if (last?.second === second) return last;
    const created = { second, counts: new Map<number, number>() };
    this.unshared.push(created);
    // While the database is unreachable nothing is taken.
    if (this.unshared.length > windowSeconds + 1) this.unshared.shift();
    return created;
  }
}
