import { LRUCache } from 'lru-cache';
import type { Reads } from '../app.ts';
import { Caller } from '../caller.ts';
import type { Recorder } from '../concurrency.ts';
import { anyOf, type Sql, toByteaArray, unnest } from '../database/client.ts';
import { Unauthenticated } from '../errors.ts';
import type { ApiToken } from '../generated/prisma/client.ts';
import type { AuthorizationScheme, Route } from '../http/types.ts';
import type { RateLimiting } from '../rate-limit.ts';
import { apiTokenProblem, hashSecret } from '../tokens.ts';

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
async function authenticate(
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
  rateLimiting.admit(caller);
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

/** An API token without the hash of its secret. Whether one has expired is decided by the database's clock. */
export type ApiTokenRecord = Omit<ApiToken, 'secretHash'> & {
  readonly isExpired: boolean;
  /** Whether a rotation replaced the secret that it was found by, and its overlap is over. */
  readonly isReplaced: boolean;
};

const columns = `t.id, t.name, t.environment_tag as "environmentTag", coalesce(t.scopes, '{}') as scopes, t.created_at as "createdAt", t.expires_at as "expiresAt",
  t.last_used_at as "lastUsedAt", t.enabled, t.rate_limit as "rateLimit", t.revoked_at as "revokedAt",
  coalesce(t.expires_at <= now(), false) as "isExpired"`;

/** The API token of each secret, by its SHA-256 in hexadecimal. Nearly every secret that is looked up is a current one. */
export async function findApiTokensOfSecrets(sql: Sql, hashes: readonly string[]): Promise<(ApiTokenRecord | undefined)[]> {
  const found = new Map<string, ApiTokenRecord>();
  const read = async (name: string, text: string, wanted: readonly string[]) => {
    const rows = await sql<ApiTokenRecord & { foundHash: string }>(name, text, [toByteaArray(wanted)]);
    // Without the hash, so that a token that is printed does not reveal it.
    for (const { foundHash, ...apiToken } of rows) found.set(foundHash, apiToken);
  };
  await read('api-tokens-by-current-secret', byCurrentSecret, hashes);
  const missing = hashes.filter((hash) => !found.has(hash));
  if (missing.length > 0) await read('api-tokens-by-secret', byAnySecret, missing);
  return hashes.map((hash) => found.get(hash));
}

const byCurrentSecret = `
  select ${columns}, false as "isReplaced", encode(t.secret_hash, 'hex') as "foundHash" from api_token t
  where t.secret_hash = ${anyOf(1, 'bytea')}`;

/** Reads current ones too, in the same statement: a secret that a concurrent rotation replaces is found as one or the other. */
const byAnySecret = `
  ${byCurrentSecret}
  union all
  select ${columns}, r.expires_at <= now(), encode(r.secret_hash, 'hex') from ${unnest([{ sql: 'secret_hash', type: 'bytea' }], 'key')}
  cross join lateral (select * from retired_secret r where r.secret_hash = key.secret_hash limit 1) as r
  cross join lateral (select * from api_token t where t.id = r.api_token_id limit 1) as t`;

/** The API token of each number. */
export async function findApiTokens(sql: Sql, ids: readonly number[]): Promise<(ApiTokenRecord | undefined)[]> {
  const text = `select ${columns}, false as "isReplaced" from api_token t where t.id = ${anyOf(1, 'int')}`;
  const rows = await sql<ApiTokenRecord>('api-tokens-by-id', text, [ids]);
  const found = new Map(rows.map((apiToken) => [apiToken.id, apiToken]));
  return ids.map((id) => found.get(id));
}

/** Records how many seconds ago API tokens were last used; never backwards: other instances do so, too. */
export async function stampApiTokenUses(sql: Sql, secondsAgo: ReadonlyMap<number, number>): Promise<void> {
  await sql('stamp-api-tokens', stampStatement, [[...secondsAgo.keys()], [...secondsAgo.values()]]);
}

const stampStatement = `
  update api_token set last_used_at = used.at
  from (
    select id, now() - seconds_ago * interval '1 second' as at from unnest($1::int[], $2::float8[]) as use (id, seconds_ago) order by id
  ) as used
  where api_token.id = used.id and (last_used_at is null or last_used_at < used.at)`;
