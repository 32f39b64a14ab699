import { type Caller, rateLimitOf } from './caller.ts';
import { runPeriodically } from './concurrency.ts';
import type { Sql } from './database/client.ts';
import { RateLimited } from './errors.ts';
import { metrics } from './metrics.ts';

/** How long the requests of an API token are counted, from the first of them on. */
const windowSeconds = 60;

/** How often a gateway tells the others what it has counted. */
const shareMs = 1_000;

/** What the limit of an API token depends on. */
interface LimitedToken {
  readonly id: number;
  readonly rateLimit: number | null;
}

/** The rate limit of API tokens, as authentication and responses use it. */
export interface RateLimiting {
  /** Counts a request of an API token that has a limit. @throws RateLimited, uncounted, when it has sent too many. */
  admit(caller: Caller): void;
  /** The headers of draft-ietf-httpapi-ratelimit-headers-11 for a response to an API token; none without a limit. */
  headersFor(apiToken: LimitedToken): Readonly<Record<string, string>>;
  /** Shares the last counts. Never rejects. */
  stop(): Promise<void>;
}

/**
 * Limits the requests that each API token may send in 60 seconds. Gateways on one database share their counts every second; while
 * the database fails, each one limits by itself. Refused requests do not count.
 *
 * @param limit requests per 60 seconds of API tokens without a limit of their own; 0: any number.
 * @param onShared receives the outcome of each statement: the error, or nothing.
 */
export function startRateLimiting(limit: number, sql: Sql, onShared: (error?: unknown) => void): RateLimiting {
  for (const result of ['success', 'failure']) metrics.rateLimitSyncs.inc({ result }, 0);
  const windows = new Map<number, { count: number; endsAt: number }>();
  /** What the database does not know yet, by API token. */
  let unshared = new Map<number, number>();
  let isFailing = false;

  async function share(): Promise<void> {
    const now = seconds();
    for (const [id, { endsAt }] of windows) if (endsAt <= now) windows.delete(id);
    if (windows.size === 0) return;
    const sent = new Map(windows);
    const added = unshared;
    unshared = new Map();
    const ids = [...sent.keys()];
    const ages = [...sent.values()].map(({ endsAt }) => windowSeconds - (endsAt - now));
    const totals = [...sent.values()].map(({ count }) => count);
    const values = [ids, ages, ids.map((id) => added.get(id) ?? 0), totals];
    const isSame = (id: number): boolean => windows.get(id) === sent.get(id); // or another window has begun meanwhile
    try {
      for (const { id, count, secondsLeft } of await sql<SharedCount>('share-request-counts', addCounts, values))
        if (isSame(id)) windows.set(id, { count: count + (unshared.get(id) ?? 0), endsAt: seconds() + secondsLeft });
    } catch (error) {
      for (const [id, count] of added) if (isSame(id)) unshared.set(id, (unshared.get(id) ?? 0) + count);
      throw error;
    }
    report();
  }

  const report = (error?: unknown): void => {
    isFailing = error !== undefined;
    metrics.rateLimitSyncs.inc({ result: isFailing ? 'failure' : 'success' });
    onShared(error);
  };
  const stopSharing = runPeriodically(share, { firstDelayMs: 0, nextDelayMs: () => shareMs, onFailure: report });

  return {
    admit(caller) {
      const { apiToken } = caller;
      const most = apiToken ? rateLimitOf(apiToken, limit) : 0;
      if (!apiToken || most === 0) return;
      const now = seconds();
      let window = windows.get(apiToken.id);
      if (!window || window.endsAt <= now) {
        window = { count: 0, endsAt: now + windowSeconds };
        windows.set(apiToken.id, window);
        unshared.delete(apiToken.id);
      }
      if (window.count >= most) throw refusal(caller, most, Math.ceil(window.endsAt - now));
      window.count += 1;
      unshared.set(apiToken.id, (unshared.get(apiToken.id) ?? 0) + 1);
    },
    headersFor(apiToken) {
      const most = rateLimitOf(apiToken, limit);
      if (most === 0) return {};
      const { count, endsAt } = windows.get(apiToken.id) ?? { count: 0, endsAt: 0 };
      const secondsLeft = Math.ceil(endsAt - seconds());
      const state = secondsLeft > 0 ? `r=${Math.max(0, most - count)};t=${secondsLeft}` : `r=${most}`;
      return { 'ratelimit-policy': `"api-token";q=${most};w=${windowSeconds}`, ratelimit: `"api-token";${state}` };
    },
    async stop() {
      await stopSharing();
      // A database that does not respond is not waited for a second time.
      if (!isFailing) await share().catch(report);
    },
  };
}

/** Of a clock that is never set. */
const seconds = (): number => performance.now() / 1_000;

const refusal = (caller: Caller, limit: number, retryAfterSeconds: number): RateLimited =>
  new RateLimited(
    caller,
    `The API token has sent ${limit} requests within ${windowSeconds} seconds, the most that are permitted. Nothing was changed. ` +
      `Send it again after ${retryAfterSeconds} seconds.`,
    retryAfterSeconds,
  );

/** What all gateways have counted of an API token. */
interface SharedCount {
  readonly id: number;
  readonly count: number;
  readonly secondsLeft: number;
}

/** Adds to the current window of each API token, or takes over that of this gateway. Ordered by id to prevent deadlocks. */
const isCurrent = `known.started_at between clock_timestamp() - interval '${windowSeconds} seconds' and clock_timestamp()`;
const addCounts = `
  with given as (select * from unnest($1::int[], $2::float8[], $3::int[], $4::int[]) as given (id, age, added, total))
  insert into request_count as known (api_token_id, started_at, count)
  select id, clock_timestamp() - age * interval '1 second', total from given order by id
  on conflict (api_token_id) do update set
    started_at = case when ${isCurrent} then known.started_at else excluded.started_at end,
    count = case when ${isCurrent} then known.count + (select added from given where id = known.api_token_id) else excluded.count end
  returning api_token_id as id, count,
    extract(epoch from started_at + interval '${windowSeconds} seconds' - clock_timestamp())::float8 as "secondsLeft"`;
