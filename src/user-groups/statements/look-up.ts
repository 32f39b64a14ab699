import { createBatchLoader, type Load, maxLookupKeys } from '../../database/batch-loader.ts';
import type { Database } from '../../database/client.ts';
import { anyOf, columnTypes, decodeHexadecimal, type Row, toByteaArray, unnest } from '../../database/columns.ts';
import type { UserGroup } from '../../generated/prisma/client.ts';
import {
  UserGroupRow,
  UserGroupSummaryRow,
  userGroupColumnCount,
  userGroupColumns,
  userGroupSelectList,
  userGroupSummarySelectList,
} from './columns.ts';

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
function bindGroupByTokenHash({ query }: Pick<Database, 'query'>): Load<readonly string[], GroupOfToken> {
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

const tokenKey = [{ sql: 'token_hash', type: 'bytea' }] as const;

/** Nearly every token that is looked up is a current one, and this costs the server less than {@link groupsByAnyToken}. */
const groupsByCurrentToken = `
  select ${userGroupSelectList('g')} from user_group g where g.token_hash = ${anyOf(1, 'bytea')} and not g.suspended`;

/**
 * For the tokens that {@link groupsByCurrentToken} did not find. Reads current ones too, in the same statement: a token that was
 * retired before may have become current since, by an import. So each token's result is that of one snapshot.
 */
const groupsByAnyToken = `
  select ${userGroupSelectList('g')}, encode(g.token_hash, 'hex'), true, null::timestamptz from user_group g
  where g.token_hash = ${anyOf(1, 'bytea')} and not g.suspended
  union all
  select ${userGroupSelectList('g')}, encode(r.token_hash, 'hex'), false, r.expires_at from ${unnest(tokenKey, 'key')}
  cross join lateral (
    select * from retired_token r where r.token_hash = key.token_hash and r.expires_at > now() limit 1
  ) as r
  cross join lateral (select * from user_group g where g.team_id = r.team_id and not g.suspended limit 1) as g`;

/** Look-ups of user groups. */
export interface UserGroupLookups {
  /**
   * The group that a user group token identifies, by the keyed hashes of the token in hexadecimal: one under each key, because
   * what is stored has one of them. The tokens of a suspended group identify nothing.
   */
  readonly findByTokenHash: Load<readonly string[], GroupOfToken>;
  /** The group with this number. */
  readonly findByTeamId: Load<number, UserGroup>;
  /** The same without its properties and mapping, some hundred KiB each at most; taking them from the group throws. */
  readonly findSummaryByTeamId: Load<number, UserGroup>;
  /** The groups with this provided id: one, or one of `Customer` and one of `Testing`; undefined if there is none. */
  readonly findByProvidedId: Load<string, UserGroup[]>;
  /**
   * The groups with each of these provided ids, in one statement.
   *
   * @param withJson whether properties and mappings are read. Without it, taking them from a group throws: those of many groups
   *   are too much to read for nothing.
   */
  findByProvidedIds(providedIds: readonly string[], withJson: boolean): Promise<ReadonlyMap<string, UserGroup[]>>;
}

/** Binds the look-ups of user groups to a database. */
export function bindUserGroupLookups({ query }: Pick<Database, 'query'>): UserGroupLookups {
  const byTeamId = (name: string, text: string, GroupRow: typeof UserGroupRow): Load<number, UserGroup> =>
    createBatchLoader({
      keyOf: String,
      maxKeys: maxLookupKeys,
      load: async (teamIds) => {
        const groups = (await query(name, text, [teamIds])).map((row) => new GroupRow(row));
        return new Map(groups.map((group) => [String(group.teamId), group]));
      },
    });
  return {
    findByTokenHash: bindGroupByTokenHash({ query }),
    findByTeamId: byTeamId('groups-by-team-id', groupsByTeamId, UserGroupRow),
    findSummaryByTeamId: byTeamId('group-summaries-by-team-id', summariesByTeamId, UserGroupSummaryRow),
    ...bindGroupsByProvidedId({ query }),
  };
}

/** Binds the look-ups by provided id alone. */
export function bindGroupsByProvidedId({
  query,
}: Pick<Database, 'query'>): Pick<UserGroupLookups, 'findByProvidedId' | 'findByProvidedIds'> {
  const findByProvidedIds: UserGroupLookups['findByProvidedIds'] = async (providedIds, withJson) => {
    const rows = withJson
      ? await query('groups-by-provided-id', groupsByProvidedId, [providedIds])
      : await query('group-summaries-by-provided-id', summariesByProvidedId, [providedIds]);
    const GroupRow = withJson ? UserGroupRow : UserGroupSummaryRow;
    return byProvidedId(rows.map((row) => new GroupRow(row)));
  };
  return {
    findByProvidedId: createBatchLoader({
      keyOf: (providedId) => providedId,
      maxKeys: maxLookupKeys,
      load: (providedIds) => findByProvidedIds(providedIds, true),
    }),
    findByProvidedIds,
  };
}

function byProvidedId(groups: readonly UserGroup[]): Map<string, UserGroup[]> {
  const found = new Map<string, UserGroup[]>();
  for (const group of groups) {
    const others = found.get(group.providedId);
    if (others) others.push(group);
    else found.set(group.providedId, [group]);
  }
  return found;
}

const selectByTeamId = (selectList: string): string => `
  select ${selectList} from user_group g where g.team_id = ${anyOf(1, 'int')}`;

const groupsByTeamId = selectByTeamId(userGroupSelectList('g'));
const summariesByTeamId = selectByTeamId(userGroupSummarySelectList('g'));

/**
 * In two halves, because each of the two indexes on the id covers a part of the groups. The first includes the untagged ones. No
 * condition is one of an index on the environment: a plan that was made for few groups of `Testing` would read all of them.
 */
const selectByProvidedId = (selectList: string): string => `
  select ${selectList} from user_group g
  where g.provided_id = ${anyOf(1, 'text')} and g.environment_tag is distinct from 'Testing'
  union all
  select ${selectList} from user_group g
  where g.provided_id = ${anyOf(1, 'text')} and g.environment_tag is distinct from 'Customer'
    and (g.environment_tag = 'Testing') is true`;

const groupsByProvidedId = selectByProvidedId(userGroupSelectList('g'));
const summariesByProvidedId = selectByProvidedId(userGroupSummarySelectList('g'));
