import { type Caller, rateLimitOf } from '../caller.ts';
import { runPeriodically } from '../concurrency.ts';
import type { Sql } from '../database/client.ts';
import { RateLimited } from '../errors.ts';
import { metrics } from '../metrics/metrics.ts';

/** The length of the window in which the requests of an API token are counted, in seconds. */
const windowSeconds = 60;

/** The current second, and as many whole ones as the window has: so no 60 seconds have more requests than are permitted. */
const slotCount = windowSeconds + 1;

/** The message of a refusal. */
const rateLimited = (limit: number, retryAfterSeconds: number): string =>
  `The API token has sent ${limit} requests within ${windowSeconds} seconds, the most that are permitted. Nothing was changed. ` +
  `Send it again after ${retryAfterSeconds} seconds.`;

/** What an API token may still send. */
interface Quota {
  /** How many requests are permitted now. */
  readonly remaining: number;
  /** In how many seconds more are permitted, if there are no requests until then; 0 if no request is counted. */
  readonly seconds: number;
}

/** How many seconds from before the last call are read again: as long as another statement may take to commit its counts. */
const overlapSeconds = 3;

/** What the limit of an API token depends on. */
interface LimitedToken {
  readonly id: number;
  readonly rateLimit: number | null;
}

/**
 * Limits the requests that each API token may send in 60 seconds, over all processes that share their counts. A sliding window:
 * requests count until they are 60 seconds old, rounded up to whole seconds. Refused requests do not count.
 *
 * Its memory is bounded by the API tokens with a limit that were used within the last minute.
 */
export class RateLimiter {
  /** Requests per 60 seconds of API tokens that have no limit of their own; 0: any number. */
  private readonly limit: number;
  private readonly now: () => number;
  private readonly windows = new Map<number, SlidingWindow>();
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

  /** How many requests an API token may send in 60 seconds; 0: any number. */
  limitOf(apiToken: LimitedToken): number {
    return rateLimitOf(apiToken, this.limit);
  }

  /** Whether there is nothing to share: there is no general limit, and no API token with its own was used in the last minute. */
  get isIdle(): boolean {
    return this.limit === 0 && this.windows.size === 0;
  }

  /**
   * Counts a request of an API token that has a limit.
   *
   * @throws RateLimited, uncounted, when the API token of the caller has sent as many as are permitted.
   */
  admit(caller: Caller): void {
    const { apiToken } = caller;
    const limit = apiToken ? this.limitOf(apiToken) : 0;
    if (!apiToken || limit === 0) return;
    const now = this.now();
    const second = Math.floor(now);
    const window = this.windowOf(apiToken.id, second);
    if (window.total(second) >= limit) {
      const retryAfterSeconds = Math.ceil(second + window.slotsUntil(limit - 1) - now);
      throw new RateLimited(caller, rateLimited(limit, retryAfterSeconds), retryAfterSeconds);
    }
    window.add(second, 1);
    this.unshared.set(apiToken.id, (this.unshared.get(apiToken.id) ?? 0) + 1);
  }

  /** What an API token that has a limit may still send. */
  quotaOf(apiToken: LimitedToken): Quota {
    const limit = this.limitOf(apiToken);
    const now = this.now();
    const second = Math.floor(now);
    const window = this.windows.get(apiToken.id);
    const total = window?.total(second) ?? 0;
    if (!window || total === 0) return { remaining: limit, seconds: 0 };
    // More than are permitted, if several processes admitted requests before they knew of each other's, or the limit was lowered.
    const free = Math.min(total, limit);
    return { remaining: limit - free, seconds: Math.ceil(second + window.slotsUntil(free - 1) - now) };
  }

  /**
   * Adds what was admitted since the last call to what all processes have admitted, and counts what the others have. One call at
   * a time. Rejects when the database fails: then the others do not get to know what was admitted since the last call.
   */
  async share(add: (added: ReadonlyMap<number, number>, ageSeconds: number) => Promise<RequestCounts>): Promise<void> {
    const added = this.unshared;
    this.unshared = new Map();
    const sentAt = this.now();
    const ageSeconds = Math.min(keptSeconds, Math.ceil(sentAt - this.sharedAt) + overlapSeconds);
    const { second, counts } = await add(added, ageSeconds);
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

  private windowOf(apiTokenId: number, second: number): SlidingWindow {
    const known = this.windows.get(apiTokenId);
    if (known) return known;
    const created = new SlidingWindow(slotCount, second);
    this.windows.set(apiTokenId, created);
    return created;
  }
}

/** The name of the only policy. */
const policyName = '"api-token"';

/**
 * What a response states to an API token that has a limit: the headers `RateLimit` and `RateLimit-Policy` of
 * draft-ietf-httpapi-ratelimit-headers-11, with what the token may still send.
 */
function rateLimitHeaders(limiter: RateLimiter, apiToken: LimitedToken): Readonly<Record<string, string>> {
  const { remaining, seconds } = limiter.quotaOf(apiToken);
  const policy = `${policyName};q=${limiter.limitOf(apiToken)};w=${windowSeconds}`;
  const until = seconds > 0 ? `;t=${seconds}` : '';
  return { 'ratelimit-policy': policy, ratelimit: `${policyName};r=${remaining}${until}` };
}

/** How often a process shares its counts: what it has counted is known to all others after two of these and two statements. */
const intervalMs = 1_000;

/** The rate limit of API tokens, as authentication and responses use it. */
export interface RateLimiting {
  /** Requests per 60 seconds of API tokens without a limit of their own; 0: any number. */
  readonly limit: number;
  /** Counts a request whose API token is accepted and has a limit, before its body is used. @throws RateLimited. */
  admit(caller: Caller): void;
  /** The headers of every response to an API token that has a limit. */
  headersFor(apiToken: LimitedToken): Readonly<Record<string, string>>;
  /** Shares the last counts. Never rejects. */
  stop(): Promise<void>;
}

/**
 * Starts to limit the requests of each API token, and to share their counts.
 *
 * @param limit requests per 60 seconds of API tokens without a limit of their own; 0: any number.
 * @param onShared receives the outcome of each statement: the error, after which each process limits by itself, or nothing.
 */
export function startRateLimiting(limit: number, sql: Sql, onShared: (error?: unknown) => void): RateLimiting {
  const limiter = new RateLimiter(limit);
  for (const result of ['success', 'failure']) metrics.rateLimitSyncs.inc({ result }, 0);
  let isFailing = false;
  const report = (error?: unknown): void => {
    isFailing = error !== undefined;
    metrics.rateLimitSyncs.inc({ result: isFailing ? 'failure' : 'success' });
    onShared(error);
  };
  const share = async (): Promise<void> => {
    if (limiter.isIdle) return;
    await limiter.share((added, ageSeconds) => addRequestCounts(sql, added, ageSeconds));
    report();
  };
  const stopSharing = runPeriodically(share, { firstDelayMs: 0, nextDelayMs: () => intervalMs, onFailure: report });
  return {
    limit,
    admit: (caller) => limiter.admit(caller),
    headersFor: (apiToken) => rateLimitHeaders(limiter, apiToken),
    async stop() {
      await stopSharing();
      // A database that does not respond is not waited for a second time.
      if (!isFailing) await share().catch(report);
    },
  };
}

/** The requests of an API token that all processes have admitted in a second. */
export interface RequestCount {
  /** Since 1970, by the database's clock. */
  readonly second: number;
  readonly apiTokenId: number;
  readonly count: number;
}

/** The requests of the last seconds. */
export interface RequestCounts {
  /** The current second. */
  readonly second: number;
  readonly counts: readonly RequestCount[];
}

/**
 * Adds requests to those of the current second, and reads all of the last seconds.
 *
 * @param added by API token.
 * @param ageSeconds how far back to read: at most {@link keptSeconds}.
 */
export async function addRequestCounts(sql: Sql, added: ReadonlyMap<number, number>, ageSeconds: number): Promise<RequestCounts> {
  const values = [[...added.keys()], [...added.values()], ageSeconds];
  const rows = await sql<RequestCount & { now: number }>('add-request-counts', addCounts, values);
  // If there are no counts, a row without one has the second.
  return { second: rows[0]?.now as number, counts: rows.filter(({ count }) => count > 0) };
}

/** How long counts are kept, in seconds: a minute, rounded up to whole seconds. */
const keptSeconds = 61;

/**
 * Counts are added in the order of the API tokens, so that statements do not wait for each other in a circle. Those in the future
 * are from before the database's clock was set back: they are removed like old ones, or they would count again.
 */
const addCounts = `
  with clock as materialized (
    select floor(extract(epoch from clock_timestamp()))::bigint as now
  ), added as (
    insert into request_count as known (second, api_token_id, count)
    select now, api_token_id, count from clock, unnest($1::int[], $2::int[]) as given (api_token_id, count) order by api_token_id
    on conflict (second, api_token_id) do update set count = known.count + excluded.count
    returning second, api_token_id, count
  ), doomed as materialized (
    select second, api_token_id from request_count
    where second < (select now from clock) - ${keptSeconds} or second > (select now from clock) + 1
    for update skip locked
  ), removed as (
    delete from request_count c using doomed d where (c.second, c.api_token_id) = (d.second, d.api_token_id)
  ), counts as (
    select * from added union all
    select second, api_token_id, count from request_count c
    where second between (select now from clock) - $3::int and (select now from clock)
      and not exists (select from added a where (a.second, a.api_token_id) = (c.second, c.api_token_id))
  )
  select now::float8, second::float8, api_token_id as "apiTokenId", count::int from clock left join counts on true`;

/** What was counted in the last slots of time, such as seconds: the current one, and those before it. */
export class SlidingWindow {
  private readonly counts: Float64Array;
  private slot: number;
  private sum = 0;

  /** @param slotCount how many slots it has. @param slot the current one, of any clock that never goes back. */
  constructor(slotCount: number, slot: number) {
    this.counts = new Float64Array(slotCount);
    this.slot = slot;
  }

  /** What was counted up to a slot, which must not be before that of an earlier call. */
  total(slot: number): number {
    const { length } = this.counts;
    const steps = Math.min(slot - this.slot, length);
    for (let step = 1; step <= steps; step += 1) {
      const index = (this.slot + step) % length;
      this.sum -= this.counts[index] as number;
      this.counts[index] = 0;
    }
    if (slot > this.slot) this.slot = slot;
    return this.sum;
  }

  /** Counts in the current slot or an earlier one; what is before the window is ignored. */
  add(slot: number, count: number): void {
    const { length } = this.counts;
    if (slot <= this.slot - length || slot > this.slot) return;
    // Below zero for what other processes counted before the start of this one.
    const index = (slot + length) % length;
    this.counts[index] = (this.counts[index] as number) + count;
    this.sum += count;
  }

  /**
   * How many slots from the beginning of the current one it takes until at most `most` remains, if nothing is counted until then.
   *
   * @param most less than there is now.
   */
  slotsUntil(most: number): number {
    const { length } = this.counts;
    let remaining = this.sum;
    for (let age = length - 1; age > 0; age -= 1) {
      // The oldest first.
      remaining -= this.counts[(this.slot - age + length) % length] as number;
      if (remaining <= most) return length - age;
    }
    return length;
  }
}
