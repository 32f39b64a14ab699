import type { RateLimiter } from '../domain/rate-limit.ts';
import { windowSeconds } from '../domain/request-window.ts';
import type { Authenticate } from './authenticate.ts';
import type { RequestHead, Route } from './types.ts';

/** The name of the only policy. */
const policyName = '"api-token"';

/** Counts each request whose API token is accepted, before its body is used. @returns a function that also throws RateLimited. */
export function limitRate(limiter: RateLimiter, authenticate: Authenticate): Authenticate {
  return async (authorization, route, requestId) => {
    const caller = await authenticate(authorization, route, requestId);
    limiter.admit(caller);
    return caller;
  };
}

/**
 * A route whose responses to requests with an API token, errors too, state what the token may still send: the headers `RateLimit`
 * and `RateLimit-Policy` of draft-ietf-httpapi-ratelimit-headers-11.
 */
export function withRateLimitHeaders(limiter: RateLimiter, route: Route): Route {
  if (route.credential === 'ignored') return route;
  const policy = `${policyName};q=${limiter.limit};w=${windowSeconds}`;
  const headersOf = ({ caller: { apiToken } }: Pick<RequestHead, 'caller'>): Record<string, string> => {
    if (!apiToken) return {};
    const { remaining, seconds } = limiter.quotaOf(apiToken.id);
    const until = seconds > 0 ? `;t=${seconds}` : '';
    return { 'ratelimit-policy': policy, ratelimit: `${policyName};r=${remaining}${until}` };
  };
  return {
    ...route,
    async handle(request) {
      const response = await route.handle(request);
      return { ...response, headers: { ...response.headers, ...headersOf(request) } };
    },
    renderError(error, request) {
      const response = route.renderError(error, request);
      return { ...response, headers: { ...response.headers, ...headersOf(request) } };
    },
  };
}
