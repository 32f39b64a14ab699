import type { UserGroup } from '../../generated/prisma/client.ts';
import { createBatchLoader, type Load } from '../batch-loader.ts';
import type { Database } from '../client.ts';
import { decodeHexadecimal, type Row } from '../text-rows.ts';
import { maxLookupKeys } from './batch-sizes.ts';
import { columnTypes, toByteaArray } from './columns.ts';
import { UserGroupRow, userGroupColumnCount, userGroupColumns, userGroupSelectList } from './user-group-columns.ts';

/** The group that a token identifies. */
export interface GroupOfToken {
  readonly userGroup: UserGroup;
  /** Whether the token is its current one; otherwise it is a retired one in its grace period. */
  readonly isCurrent: boolean;
  /** When its grace period ends; null for the current one. */
  readonly expiresAt: Date | null;
}

/**
 * Binds the look-up of groups by the keyed hashes of a token in hexadecimal: one under each key, because what is stored has one
 * of them.
 *
 * The tokens of a batch are asked for among the current ones, and those that are not found among current and retired ones. Each
 * result is that of one statement, and so of one snapshot.
 */
export function bindGroupByTokenHash({ query }: Pick<Database, 'query'>): Load<readonly string[], GroupOfToken> {
  async function load(tokens: readonly (readonly string[])[]): Promise<ReadonlyMap<string, GroupOfToken>> {
    const found = new Map<string, GroupOfToken>();
    for (const row of await query('groups-by-current-token', groupsByCurrentToken, [toByteaArray(tokens.flat())])) {
      found.set(decodeHexadecimal(row[tokenHashIndex] as string), toGroupOfCurrentToken(row));
    }
    const missing = tokens.filter((hashes) => !hashes.some((hash) => found.has(hash)));
    if (missing.length > 0) {
      for (const row of await query('groups-by-token', groupsByAnyToken, [toByteaArray(missing.flat())])) {
        found.set(row[userGroupColumnCount] as string, toGroupOfToken(row));
      }
    }
    for (const hashes of tokens) {
      const stored = hashes.length > 1 && hashes.find((hash) => found.has(hash));
      if (stored) found.set(firstHash(hashes), found.get(stored) as GroupOfToken);
    }
    return found;
  }

  return createBatchLoader({ keyOf: firstHash, maxKeys: maxLookupKeys, load });
}

const firstHash = ([hash = '']: readonly string[]): string => hash;

const tokenHashIndex = userGroupColumns.indexOf('token_hash');

const toGroupOfCurrentToken = (row: Row): GroupOfToken => ({
  userGroup: new UserGroupRow(row),
  isCurrent: true,
  expiresAt: null,
});

const toGroupOfToken = (row: Row): GroupOfToken => ({
  userGroup: new UserGroupRow(row),
  isCurrent: columnTypes.boolean.decode(row[userGroupColumnCount + 1] as string),
  expiresAt: columnTypes.nullableTime.decode(row[userGroupColumnCount + 2] as string | null),
});

/** Nearly every token that is looked up is a current one, and this costs the server less than {@link groupsByAnyToken}. */
const groupsByCurrentToken = `
  select ${userGroupSelectList('g')} from user_group g where g.token_hash = any ($1::bytea[])`;

/**
 * For the tokens that {@link groupsByCurrentToken} did not find. Reads current ones too, in the same statement: a token that was
 * retired before may have become current since, by an import. So each token's result is that of one snapshot.
 */
const groupsByAnyToken = `
  select ${userGroupSelectList('g')}, encode(g.token_hash, 'hex'), true, null::timestamptz from user_group g where g.token_hash = any ($1::bytea[])
  union all
  select ${userGroupSelectList('g')}, encode(r.token_hash, 'hex'), false, r.expires_at from retired_token r join user_group g using (team_id)
  where r.token_hash = any ($1::bytea[]) and r.expires_at > now()`;
