import type { Sql } from '../database/client.ts';
import { anyOf, toByteaArray, unnest } from '../database/columns.ts';
import type { ApiToken } from '../generated/prisma/client.ts';

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
