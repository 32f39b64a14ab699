import { timeIssues } from '../database/keyset.ts';
import type { Issue } from '../errors.ts';
import type { EnvironmentTag } from '../generated/prisma/client.ts';
import { type Scope, scopeNames } from '../scopes.ts';
import { newTextIssues } from '../user-groups/values.ts';

/** The most requests in 60 seconds that an API token may be limited to. */
export const maxApiTokenRateLimit = 1_000_000;

/** The issues of the name of an API token to issue. */
export const apiTokenNameIssues = (name: string): Issue[] => newTextIssues(['name'], name);

/** The issues of the rate limit of an API token; null and undefined have none. */
export function rateLimitIssues(rateLimit: number | null | undefined): Issue[] {
  if (rateLimit == null || (Number.isInteger(rateLimit) && rateLimit >= 1 && rateLimit <= maxApiTokenRateLimit)) return [];
  return [{ path: ['rateLimit'], message: `must be a whole number from 1 to ${maxApiTokenRateLimit}.` }];
}

/** The properties of an API token to issue. */
export interface ApiTokenRequest {
  /** What the token is for: 1 to 255 characters. */
  readonly name: string;
  /** The environment it has access to; `null` means untagged. */
  readonly environmentTag: EnvironmentTag | null;
  /** At least one. */
  readonly scopes: readonly Scope[];
  /** When it expires, in the future, by the database's clock; `null` means never. */
  readonly expiresAt: Date | null;
  /** After how many seconds it expires, from 1 on, instead of `expiresAt`. */
  readonly expiresInSeconds?: number | null | undefined;
  /** How many requests may be sent with it in 60 seconds: 1 to 1,000,000; `null`, the default, means the setting RATE_LIMIT. */
  readonly rateLimit?: number | null | undefined;
}

/** The issues of an API token to issue. @param now the time, by the database's clock. */
export function* requestIssues(request: ApiTokenRequest, now: Date): Generator<Issue> {
  const { name, scopes, expiresAt, expiresInSeconds, rateLimit } = request;
  yield* apiTokenNameIssues(name);
  if (scopes.length === 0) yield { path: ['scopes'], message: `must contain at least one of ${scopeNames.join(', ')}.` };
  const end = endOf(request, now);
  const path = [expiresInSeconds == null ? 'expiresAt' : 'expiresInSeconds'];
  if (expiresInSeconds != null && expiresAt) yield { path, message: 'must not be given together with expiresAt.' };
  else if (expiresInSeconds != null && expiresInSeconds < 1) yield { path, message: 'must be at least 1.' };
  else if (end && end <= now) yield { path, message: 'must be in the future.' };
  else yield* timeIssues(path, end);
  yield* rateLimitIssues(rateLimit);
}

/** When an API token to issue expires; null means never. @param now the time, by the database's clock. */
export const endOf = ({ expiresAt, expiresInSeconds }: ApiTokenRequest, now: Date): Date | null =>
  expiresInSeconds == null ? expiresAt : new Date(now.getTime() + expiresInSeconds * 1_000);
