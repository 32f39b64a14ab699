import type { Logger } from 'pino';
import type { Database } from './database/client.ts';
import { bindRateCounts } from './database/queries/rate-counts.ts';
import { RateLimiter } from './domain/rate-limit.ts';
import { startRateLimitExchange } from './domain/rate-limit-exchange.ts';
import type { Authenticate } from './http/authenticate.ts';
import { limitRate, withRateLimitHeaders } from './http/rate-limit.ts';
import type { Route } from './http/types.ts';
import { type Instruments, increment } from './metrics/instruments.ts';

/** The rate limit of API tokens, as it is put around a gateway's authentication and routes. */
export interface RateLimiting {
  authenticate(authenticate: Authenticate): Authenticate;
  route(route: Route): Route;
  /** Shares the last counts. Never rejects. */
  stop(): Promise<void>;
}

/** What a rate limit uses. */
interface Dependencies {
  readonly database: Pick<Database, 'query'>;
  readonly instruments: Instruments;
  readonly log: Logger;
}

/** Starts to limit the requests of each API token, and to exchange their counts. @param limit requests per 60 seconds. */
export function startRateLimiting(limit: number, { database, instruments, log }: Dependencies): RateLimiting {
  const limiter = new RateLimiter(limit);
  const successes = instruments.series('rateLimitExchanges', 'success');
  const failures = instruments.series('rateLimitExchanges', 'failure');
  let isFailing = false;
  const { stop } = startRateLimitExchange(limiter, bindRateCounts(database), {
    onExchange: (error) => {
      increment(error ? failures : successes);
      if (error && !isFailing) log.warn({ err: error }, 'each process limits the rate of requests by itself: the database fails');
      if (!error && isFailing) log.info('processes limit the rate of requests together again');
      isFailing = error !== undefined;
    },
  });
  return {
    authenticate: (authenticate) => limitRate(limiter, authenticate),
    route: (route) => withRateLimitHeaders(limiter, route),
    stop,
  };
}
