import type { UserGroup } from '../../generated/prisma/client.ts';
import { createBatchLoader, type Load } from '../batch-loader.ts';
import type { Database } from '../client.ts';
import { createRowLocations } from '../row-locations.ts';
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
 * The fewest known locations that get a statement of their own when other tokens of the batch need another one: a location saves
 * 4 µs, a statement takes 60.
 */
const minLocated = 16;

/**
 * Binds the look-up of groups by the keyed hashes of a token in hexadecimal: one under each key, because what is stored has one
 * of them.
 *
 * The tokens of a batch are asked for in up to three statements, each for those that the ones before did not find: at the
 * locations where their groups were last seen, by the index of current tokens, and among current and retired ones. Each result
 * is that of one statement, and so of one snapshot.
 */
export function bindGroupByTokenHash({ query }: Pick<Database, 'query'>): Load<readonly string[], GroupOfToken> {
  const locations = createRowLocations();

  /** Where the groups of tokens were last seen; undefined if a statement for these locations would not pay. */
  function locate(tokens: readonly (readonly string[])[]): string[] | undefined {
    const located: string[] = [];
    for (const hashes of tokens) {
      for (const hash of hashes) {
        const location = locations.get(hash);
        if (location !== undefined) located.push(location);
      }
    }
    return located.length >= minLocated || located.length >= tokens.length ? located : undefined;
  }

  async function load(tokens: readonly (readonly string[])[]): Promise<ReadonlyMap<string, GroupOfToken>> {
    const found = new Map<string, GroupOfToken>();
    const notFound = () => tokens.filter((hashes) => !hashes.some((hash) => found.has(hash)));

    let missing = tokens;
    const located = locate(tokens);
    if (located) {
      // Another group may be at a location by now. It is stored under its own hash, for which there was no request.
      for (const row of await query('groups-at-locations', groupsAtLocations, [toTidArray(located)])) {
        found.set(currentHashOf(row), toGroupOfCurrentToken(row));
      }
      missing = notFound();
      for (const hashes of missing) hashes.forEach(locations.delete);
    }
    if (missing.length > 0) {
      for (const row of await query('groups-by-current-token', groupsByCurrentToken, [toByteaArray(missing.flat())])) {
        const hash = currentHashOf(row);
        locations.set(hash, row[userGroupColumnCount] as string);
        found.set(hash, toGroupOfCurrentToken(row));
      }
      missing = notFound();
    }
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

const toTidArray = (tids: readonly string[]): string => `{${tids.map((tid) => `"${tid}"`).join(',')}}`;

const tokenHashIndex = userGroupColumns.indexOf('token_hash');

const currentHashOf = (row: Row): string => decodeHexadecimal(row[tokenHashIndex] as string);

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

/** Takes half the time of {@link groupsByCurrentToken}, with a thousand groups or a million: no index is descended. */
const groupsAtLocations = `select ${userGroupSelectList('g')} from user_group g where g.ctid = any ($1::tid[])`;

/** Nearly every token that is looked up is a current one, and this costs the server less than {@link groupsByAnyToken}. */
const groupsByCurrentToken = `
  select ${userGroupSelectList('g')}, g.ctid from user_group g where g.token_hash = any ($1::bytea[])`;

/**
 * For the tokens that {@link groupsByCurrentToken} did not find. Reads current ones too, in the same statement: a token that was
 * retired before may have become current since, by an import. So each token's result is that of one snapshot.
 */
const groupsByAnyToken = `
  select ${userGroupSelectList('g')}, encode(g.token_hash, 'hex'), true, null::timestamptz from user_group g where g.token_hash = any ($1::bytea[])
  union all
  select ${userGroupSelectList('g')}, encode(r.token_hash, 'hex'), false, r.expires_at from retired_token r join user_group g using (team_id)
  where r.token_hash = any ($1::bytea[]) and r.expires_at > now()`;
