import type { Logger } from 'pino';
import type { Caller } from '../caller.ts';
import { runPeriodically } from '../concurrency/periodic.ts';
import type { Database } from '../database/client.ts';
import type { Route } from '../http/types.ts';
import { metrics } from '../metrics/metrics.ts';
import { RateLimiter, withRateLimitHeaders } from './rate-limit.ts';
import { bindRequestCounts } from './statements.ts';

/** How often a process shares its counts: what it has counted is known to all others after two of these and two statements. */
const intervalMs = 1_000;

/** The rate limit of API tokens, as a gateway's authentication and routes use it. */
export interface RateLimiting {
  /** Counts a request whose API token is accepted, before its body is used. @throws RateLimited. */
  admit(caller: Caller): void;
  route(route: Route): Route;
  /** Shares the last counts. Never rejects. */
  stop(): Promise<void>;
}

/** What a rate limit uses. */
interface Dependencies {
  readonly database: Pick<Database, 'query'>;
  readonly log: Logger;
}

/**
 * Starts to limit the requests of each API token, and to share their counts.
 *
 * @param limit requests per 60 seconds of API tokens without a limit of their own; 0: any number.
 */
export function startRateLimiting(limit: number, { database, log }: Dependencies): RateLimiting {
  const limiter = new RateLimiter(limit);
  const addRequestCounts = bindRequestCounts(database);
  for (const result of ['success', 'failure']) metrics.rateLimitSyncs.inc({ result }, 0);
  let isFailing = false;
  const report = (error: unknown): void => {
    metrics.rateLimitSyncs.inc({ result: error ? 'failure' : 'success' });
    if (error && !isFailing) log.warn({ err: error }, 'each process limits the rate of requests by itself: the database fails');
    if (!error && isFailing) log.info('processes limit the rate of requests together again');
    isFailing = error !== undefined;
  };
  const share = async (): Promise<void> => {
    if (limiter.isIdle) return;
    await limiter.share(addRequestCounts);
    report(undefined);
  };
  const stopSharing = runPeriodically(share, { firstDelayMs: 0, nextDelayMs: () => intervalMs, onFailure: report });
  return {
    admit: (caller) => limiter.admit(caller),
    route: (route) => withRateLimitHeaders(limiter, route),
    async stop() {
      await stopSharing();
      // A database that does not respond is not waited for a second time.
      if (!isFailing) await share().catch(report);
    },
  };
}
