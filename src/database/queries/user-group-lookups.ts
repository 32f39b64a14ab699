import type { UserGroup } from '../../generated/prisma/client.ts';
import { createBatchLoader, type Load } from '../batch-loader.ts';
import type { Database } from '../client.ts';
import { maxLookupKeys } from './batch-sizes.ts';
import { bindGroupByTokenHash, type GroupOfToken } from './group-by-token.ts';
import { UserGroupRow, UserGroupSummaryRow, userGroupSelectList, userGroupSummarySelectList } from './user-group-columns.ts';

/** Look-ups of user groups. */
export interface UserGroupLookups {
  /**
   * The group that a user group token identifies, by the keyed hashes of the token in hexadecimal: one under each key, because
   * what is stored has one of them.
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
  return {
    findByTokenHash: bindGroupByTokenHash({ query }),
    findByTeamId: createBatchLoader({
      keyOf: String,
      maxKeys: maxLookupKeys,
      load: async (teamIds) =>
        byTeamId((await query('groups-by-team-id', groupsByTeamId, [teamIds])).map((row) => new UserGroupRow(row))),
    }),
    findSummaryByTeamId: createBatchLoader({
      keyOf: String,
      maxKeys: maxLookupKeys,
      load: async (teamIds) =>
        byTeamId(
          (await query('group-summaries-by-team-id', summariesByTeamId, [teamIds])).map((row) => new UserGroupSummaryRow(row)),
        ),
    }),
    findByProvidedId: bindGroupsByProvidedId({ query }),
    findByProvidedIds: bindGroupsByProvidedIds({ query }),
  };
}

/** Binds {@link UserGroupLookups.findByProvidedId} alone. */
export function bindGroupsByProvidedId({ query }: Pick<Database, 'query'>): Load<string, UserGroup[]> {
  return createBatchLoader({
    keyOf: (providedId) => providedId,
    maxKeys: maxLookupKeys,
    load: async (providedIds) => {
      const rows = await query('groups-by-provided-id', groupsByProvidedId, [providedIds]);
      return byProvidedId(rows.map((row) => new UserGroupRow(row)));
    },
  });
}

/** Binds {@link UserGroupLookups.findByProvidedIds} alone. */
export function bindGroupsByProvidedIds({ query }: Pick<Database, 'query'>): UserGroupLookups['findByProvidedIds'] {
  return async (providedIds, withJson) => {
    if (withJson) {
      const rows = await query('groups-by-provided-id', groupsByProvidedId, [providedIds]);
      return byProvidedId(rows.map((row) => new UserGroupRow(row)));
    }
    const rows = await query('group-summaries-by-provided-id', summariesByProvidedId, [providedIds]);
    return byProvidedId(rows.map((row) => new UserGroupSummaryRow(row)));
  };
}

const byTeamId = (groups: readonly UserGroup[]) => new Map(groups.map((group) => [String(group.teamId), group]));

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
  select ${selectList} from user_group g where g.team_id = any ($1::int[])`;

const groupsByTeamId = selectByTeamId(userGroupSelectList('g'));
const summariesByTeamId = selectByTeamId(userGroupSummarySelectList('g'));

/** In two halves, because each of the two indexes on the id covers a part of the groups. The first includes the untagged ones. */
const selectByProvidedId = (selectList: string): string => `
  select ${selectList} from user_group g
  where g.provided_id = any ($1::text[]) and g.environment_tag is distinct from 'Testing'
  union all
  select ${selectList} from user_group g
  where g.provided_id = any ($1::text[]) and g.environment_tag is distinct from 'Customer' and g.environment_tag = 'Testing'`;

const groupsByProvidedId = selectByProvidedId(userGroupSelectList('g'));
const summariesByProvidedId = selectByProvidedId(userGroupSummarySelectList('g'));
