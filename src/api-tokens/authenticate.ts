import { LRUCache } from 'lru-cache';
import type { Reads } from '../app.ts';
import { Caller } from '../caller.ts';
import type { Recorder } from '../concurrency/recorder.ts';
import { Unauthenticated } from '../errors.ts';
import type { AuthorizationScheme, Route } from '../http/types.ts';
import type { RateLimiting } from '../rate-limits/rate-limit.ts';
import { apiTokenProblem, hashSecret } from '../tokens.ts';
import type { ApiTokenRecord } from './sql.ts';

const authorizationSchemes: readonly AuthorizationScheme[] = ['Token', 'Bearer'];

/**
 * Determines the caller of a request from its `Authorization` header, as the route demands. Without a header, or with an empty
 * token, the caller is anonymous.
 *
 * @param requestId the id of the request, for the audit log.
 * @throws Unauthenticated, possibly as a rejection, when the route does not ignore the credential and the scheme or the API token
 *   is not accepted, or when the route requires an API token and there is none.
 */
export type Authenticate = (authorization: string | undefined, route: Route, requestId: string) => Caller | Promise<Caller>;

/** Creates a function that reads `Authorization: Token <API_TOKEN>` or `Authorization: Bearer <API_TOKEN>`. */
export function authenticateBy(dependencies: AuthDependencies): Authenticate {
  return (authorization, { credential, schemes }, requestId) => {
    if (credential === 'ignored') return Caller.anonymous;
    const secret = authorization === undefined ? undefined : secretOf(authorization, schemes);
    if (secret !== undefined) return authenticate(dependencies, secret, requestId);
    if (credential === 'required') Caller.anonymous.requireCredential();
    return Caller.anonymous;
  };
}

/** The API token in an `Authorization` header; `undefined` if it is empty. @throws Unauthenticated for any other form. */
function secretOf(authorization: string, schemes: readonly AuthorizationScheme[] = authorizationSchemes): string | undefined {
  // The usual form, without allocating parts.
  const isUsual = authorization.startsWith('Token ') && authorization.lastIndexOf(' ') === 5 && authorization.length > 6;
  if (isUsual && schemes.includes('Token')) {
    return authorization.slice(6);
  }
  const [name = '', ...credentials] = authorization.split(/ +/);
  const scheme = authorizationSchemes.find((known) => known.toLowerCase() === name.toLowerCase());
  if (!scheme || !schemes.includes(scheme) || credentials.length > 1) throw otherScheme(schemes);
  return credentials[0];
}

function otherScheme(schemes: readonly AuthorizationScheme[]): Unauthenticated {
  const forms = schemes.map((scheme) => `"${scheme} <API_TOKEN>"`).join(' or ');
  return new Unauthenticated(`The Authorization header must be ${forms} for this path, once.`);
}

/** The dependencies of authentication. */
export interface AuthDependencies {
  readonly reads: Reads;
  readonly lastUsed: Recorder;
  readonly rateLimiting: RateLimiting;
}

/**
 * Finds the caller that holds a secret, and records its use. A malformed secret is rejected without a query.
 *
 * @param requestId the id of the request, for the audit log: at most 128 characters.
 * @throws Unauthenticated when it is malformed, unknown, expired, revoked, disabled, or was replaced and its overlap is over.
 * @throws RateLimited when the API token has sent too many requests.
 */
export async function authenticate(
  { reads, lastUsed, rateLimiting }: AuthDependencies,
  secret: string,
  requestId?: string,
): Promise<Caller> {
  const found = await reads.apiTokenOfSecret(hashOf(secret));
  if (!found) throw new Unauthenticated('The API token is unknown.');
  const refusal = describeRefusal(found);
  if (refusal) throw new Unauthenticated(refusal);
  lastUsed.note(found.id);
  const caller = new Caller(found, requestId);
  if (caller.isRateLimited(rateLimiting.limit)) rateLimiting.admit(caller);
  return caller;
}

/** Why an API token is not accepted; undefined if it is. */
export function describeRefusal({ revokedAt, enabled, isExpired, isReplaced }: ApiTokenRecord): string | undefined {
  if (revokedAt) return 'The API token is revoked.';
  if (!enabled) return 'The API token is disabled. Someone with the scope admin can enable it again.';
  if (isExpired) return 'The API token has expired.';
  return isReplaced ? 'The secret of the API token was replaced. Use its new secret.' : undefined;
}

/**
 * The hashes of the secrets that were used last: to check and hash one takes a tenth of the processor time of a look-up. Whether
 * there is such an API token, and what it may do, is read for each request.
 */
const knownHashes = new LRUCache<string, string>({ max: 1_000 });

/** The hash of a secret. @throws Unauthenticated when no API token can have it. */
function hashOf(secret: string): string {
  const known = knownHashes.get(secret);
  if (known) return known;
  const problem = apiTokenProblem(secret);
  if (problem) throw new Unauthenticated(`The API token ${problem}.`);
  const hash = hashSecret(secret);
  knownHashes.set(secret, hash);
  return hash;
}
