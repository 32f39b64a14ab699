import { createBatchLoader, type Load, maxLookupKeys } from '../database/batch-loader.ts';
import type { Database } from '../database/client.ts';
import {
  anyOf,
  type Column,
  columnCount,
  columnTypes,
  createRowClass,
  decodeHexadecimal,
  type RowOf,
  selectList,
  toByteaArray,
  unnest,
} from '../database/columns.ts';
import type { ApiToken, EnvironmentTag, Prisma } from '../generated/prisma/client.ts';

const { boolean, integer, nullableInteger, nullableTime, text, time } = columnTypes;

/** The columns of API tokens without the hash of the secret. The clock that decides whether one has expired is the database's. */
const columns = {
  id: { sql: 'id', ...integer },
  name: { sql: 'name', ...text },
  environmentTag: { sql: 'environment_tag', decode: (tag: string | null) => tag as EnvironmentTag | null },
  scopes: { sql: "array_to_string(scopes, ' ')", decode: (names: string | null): string[] => (names ? names.split(' ') : []) },
  createdAt: { sql: 'created_at', ...time },
  expiresAt: { sql: 'expires_at', ...nullableTime },
  lastUsedAt: { sql: 'last_used_at', ...nullableTime },
  enabled: { sql: 'enabled', ...boolean },
  rateLimit: { sql: 'rate_limit', ...nullableInteger },
  revokedAt: { sql: 'revoked_at', ...nullableTime },
  isExpired: { sql: 'coalesce(expires_at <= now(), false)', ...boolean },
  isReplaced: { sql: 'is_replaced', ...boolean },
} satisfies { readonly [Field in Exclude<keyof ApiToken, 'secretHash'>]: Column<ApiToken[Field]> } & {
  readonly [Flag in 'isExpired' | 'isReplaced']: Column<boolean>;
};

const ApiTokenRow = createRowClass(columns);

/** An API token without the hash of its secret. Fields are decoded each time they are read. */
export type ApiTokenRecord = RowOf<typeof columns>;

/** Look-ups of API tokens. */
export interface ApiTokenLookups {
  /**
   * The API token whose secret has this hash (SHA-256, hexadecimal), or had it before a rotation; revoked and expired ones
   * included. `isReplaced` says that a rotation replaced the secret and that its overlap is over.
   */
  readonly findBySecretHash: Load<string, ApiTokenRecord>;
  /** The API token with this number, revoked and expired ones included. */
  readonly findById: Load<number, ApiTokenRecord>;
  /** Whether there is any API token, revoked and expired ones included. */
  hasAny(): Promise<boolean>;
}

/** Binds the look-ups of API tokens to a database. */
export function bindApiTokenLookups({ query }: Pick<Database, 'query'>): ApiTokenLookups {
  return {
    findBySecretHash: createBatchLoader({
      keyOf: (hash) => hash,
      maxKeys: maxLookupKeys,
      load: async (hashes) => {
        const found = new Map<string, ApiTokenRecord>();
        const read = async (name: string, text: string, wanted: readonly string[]) => {
          for (const row of await query(name, text, [toByteaArray(wanted)])) {
            // Without the hash, so that a token that is printed does not reveal it.
            found.set(decodeHexadecimal(row[count] as string), new ApiTokenRow(row.slice(0, count)));
          }
        };
        await read('api-tokens-by-current-hash', apiTokensByCurrentHash, hashes);
        const others = hashes.filter((hash) => !found.has(hash));
        if (others.length > 0) await read('api-tokens-by-hash', apiTokensByHash, others);
        return found;
      },
    }),
    findById: createBatchLoader({
      keyOf: String,
      maxKeys: maxLookupKeys,
      load: async (ids) => {
        const apiTokens = (await query('api-tokens-by-id', apiTokensById, [ids])).map((row) => new ApiTokenRow(row));
        return new Map(apiTokens.map((apiToken) => [String(apiToken.id), apiToken]));
      },
    }),
    hasAny: async () => (await query('any-api-token', 'select from api_token limit 1', [])).length > 0,
  };
}

const count = columnCount(columns);

/** Every API token, with its current secret. */
const currentApiTokens = '(select t.*, false as is_replaced from api_token t) as found';

const secretKey = [{ sql: 'secret_hash', type: 'bytea' }] as const;

/** Nearly every secret that is looked up is a current one, and this costs the server less than {@link apiTokensByHash}. */
const apiTokensByCurrentHash = `
  select ${selectList(columns)}, secret_hash
  from ${currentApiTokens}
  where secret_hash = ${anyOf(1, 'bytea')}`;

/**
 * For the secrets that {@link apiTokensByCurrentHash} did not find. Reads current ones too, in the same statement, so that a
 * secret that a concurrent rotation replaces is found as one or the other.
 */
const apiTokensByHash = `
  select ${selectList(columns)}, found_hash
  from (
    select t.*, t.secret_hash as found_hash, false as is_replaced from api_token t where t.secret_hash = ${anyOf(1, 'bytea')}
    union all
    select t.*, r.secret_hash, r.expires_at <= now()
    from ${unnest(secretKey, 'key')}
    cross join lateral (select * from retired_secret r where r.secret_hash = key.secret_hash limit 1) as r
    cross join lateral (select * from api_token t where t.id = r.api_token_id limit 1) as t
  ) as found`;

const apiTokensById = `select ${selectList(columns)} from ${currentApiTokens} where id = ${anyOf(1, 'int')}`;

/** Records how many seconds ago API tokens were last used, by their ids; never moves a time backwards. */
export async function stampApiTokenUses(
  { query }: Pick<Database, 'query'>,
  secondsAgo: ReadonlyMap<number, number>,
): Promise<void> {
  await query('stamp-api-tokens', stampApiTokens, [[...secondsAgo.keys()], [...secondsAgo.values()]]);
}

/** In the order of the ids and never backwards, because several instances write the same rows. */
const stampApiTokens = `
  update api_token set last_used_at = used.at
  from (
    select id, now() - seconds_ago * interval '1 second' as at from unnest($1::int[], $2::float8[]) as use (id, seconds_ago) order by id
  ) as used
  where api_token.id = used.id and (last_used_at is null or last_used_at < used.at)`;

/** The number of the advisory lock that instances take before they issue the first API token. */
const firstTokenLock = 727_074;

/** Waits until no other transaction issues the first API token, and keeps others from it until this one ends. */
export async function lockFirstApiToken(transaction: Pick<Prisma.TransactionClient, '$executeRaw'>): Promise<void> {
  await transaction.$executeRaw`select pg_advisory_xact_lock(${firstTokenLock})`;
}

/** Keeps others from changing an API token, if it exists, until the transaction ends. */
export async function lockApiToken(transaction: Pick<Prisma.TransactionClient, '$executeRaw'>, id: number): Promise<void> {
  await transaction.$executeRaw`select from api_token where id = ${id}::int for update`;
}
