import type { ApiToken, EnvironmentTag } from '../../generated/prisma/client.ts';
import { createBatchLoader, type Load } from '../batch-loader.ts';
import type { Database } from '../client.ts';
import { decodeHexadecimal } from '../text-rows.ts';
import { maxLookupKeys } from './batch-sizes.ts';
import { type Column, columnCount, columnTypes, createRowClass, type RowOf, selectList, toByteaArray } from './columns.ts';

const { boolean, integer, nullableTime, text, time } = columnTypes;

/** The columns of API tokens that requests need. The clock that decides whether one has expired is the database's. */
const columns = {
  id: { sql: 'id', ...integer },
  name: { sql: 'name', ...text },
  environmentTag: { sql: 'environment_tag', decode: (tag: string | null) => tag as EnvironmentTag | null },
  scopes: { sql: "array_to_string(scopes, ' ')", decode: (names: string | null): string[] => (names ? names.split(' ') : []) },
  createdAt: { sql: 'created_at', ...time },
  expiresAt: { sql: 'expires_at', ...nullableTime },
  lastUsedAt: { sql: 'last_used_at', ...nullableTime },
  isRevoked: { sql: 'revoked_at is not null', ...boolean },
  isExpired: { sql: 'coalesce(expires_at <= now(), false)', ...boolean },
  isReplaced: { sql: 'is_replaced', ...boolean },
} satisfies { readonly [Field in Exclude<keyof ApiToken, 'secretHash' | 'revokedAt'>]: Column<ApiToken[Field]> } & {
  readonly [Flag in 'isRevoked' | 'isExpired' | 'isReplaced']: Column<boolean>;
};

const ApiTokenRow = createRowClass(columns);

/** The columns of API tokens that are shown to those who manage or audit them. */
const listedColumns = {
  id: columns.id,
  name: columns.name,
  environmentTag: columns.environmentTag,
  scopes: columns.scopes,
  createdAt: columns.createdAt,
  expiresAt: columns.expiresAt,
  lastUsedAt: columns.lastUsedAt,
  revokedAt: { sql: 'revoked_at', ...nullableTime },
} satisfies { readonly [Field in Exclude<keyof ApiToken, 'secretHash'>]: Column<ApiToken[Field]> };

const ListedApiTokenRow = createRowClass(listedColumns);

/** An API token as it is listed: without the hash of its secret, and with the time of its revocation. */
export type ListedApiToken = RowOf<typeof listedColumns>;

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
  readonly findById: Load<number, ListedApiToken>;
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
        const apiTokens = (await query('api-tokens-by-id', apiTokensById, [ids])).map((row) => new ListedApiTokenRow(row));
        return new Map(apiTokens.map((apiToken) => [String(apiToken.id), apiToken]));
      },
    }),
    hasAny: async () => (await query('any-api-token', 'select from api_token limit 1', [])).length > 0,
  };
}

const count = columnCount(columns);

/** Nearly every secret that is looked up is a current one, and this takes two thirds of the time of {@link apiTokensByHash}. */
const apiTokensByCurrentHash = `
  select ${selectList(columns)}, secret_hash
  from (select t.*, false as is_replaced from api_token t) as found
  where secret_hash = any ($1::bytea[])`;

/**
 * For the secrets that {@link apiTokensByCurrentHash} did not find. Reads current ones too, in the same statement, so that a
 * secret that a concurrent rotation replaces is found as one or the other.
 */
const apiTokensByHash = `
  select ${selectList(columns)}, found_hash
  from (
    select t.*, t.secret_hash as found_hash, false as is_replaced from api_token t where t.secret_hash = any ($1::bytea[])
    union all
    select t.*, r.secret_hash, r.expires_at <= now()
    from retired_secret r join api_token t on t.id = r.api_token_id
    where r.secret_hash = any ($1::bytea[])
  ) as found`;

const apiTokensById = `select ${selectList(listedColumns)} from api_token where id = any ($1::int[])`;
