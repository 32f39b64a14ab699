import type { Share } from '../../fair-queue.ts';
import type { EnvironmentTag, UserGroup } from '../../generated/prisma/client.ts';
import { createBatchLoader, type Load } from '../batch-loader.ts';
import type { Database } from '../client.ts';
import { violatedUniqueIndex } from '../errors.ts';
import { maxWriteKeys } from './batch-sizes.ts';
import { names, toLists, unnest } from './columns.ts';
import { insertedColumns, insertedFields, type UserGroupDraft, UserGroupRow, userGroupSelectList } from './user-group-columns.ts';
import { bindGroupsByProvidedId, bindGroupsByProvidedIds, type UserGroupLookups } from './user-group-lookups.ts';

/** Creation of user groups, and the change of their environment. */
export interface UserGroupWrites {
  /** Inserts a group and returns it; undefined when a stored group holds its id. Concurrent drafts for one id insert the first. */
  insertGroup(draft: UserGroupDraft, share?: Share): Promise<UserGroup | undefined>;
  /** Inserts the groups whose ids no stored group holds, in one statement, and returns them. No two drafts may conflict. */
  insertGroups(drafts: readonly UserGroupDraft[]): Promise<UserGroup[]>;
  /** Moves a group to an environment; undefined when there is no such group. A statement of its own. */
  setEnvironment(teamId: number, environmentTag: EnvironmentTag | null): Promise<EnvironmentChange | undefined>;
  /**
   * The groups with this provided id, read where groups are written: the group that kept a draft from being inserted is
   * there, and may not have reached a copy of the database yet.
   */
  readonly groupsHoldingId: Load<string, UserGroup[]>;
  /** The same for many ids in one statement. */
  readonly groupsHoldingIds: UserGroupLookups['groupsByProvidedIds'];
}

/** The result of a change of environment: the group, or the environment of another group with its id, which does not permit it. */
export type EnvironmentChange = { readonly userGroup: UserGroup } | { readonly heldIn: EnvironmentTag };

/** Binds the writes of user groups to a database. */
export function bindUserGroupWrites({ query }: Pick<Database, 'query'>): UserGroupWrites {
  const insertGroups = async (drafts: readonly UserGroupDraft[]): Promise<UserGroup[]> => {
    const rows = await query('insert-groups', insertStatement, toLists(insertedFields, drafts));
    return rows.map((row) => new UserGroupRow(row));
  };
  return {
    insertGroup: createBatchLoader<UserGroupDraft, UserGroup>({
      keyOf: uniqueKeyOf,
      maxKeys: maxWriteKeys,
      load: async (drafts) => new Map((await insertGroups(drafts)).map((group) => [uniqueKeyOf(group), group])),
    }),
    insertGroups,
    async setEnvironment(teamId, environmentTag) {
      try {
        const [row] = await query('set-group-environment', setEnvironment, [teamId, environmentTag]);
        return row && { userGroup: new UserGroupRow(row) };
      } catch (error) {
        const heldIn = environmentsByIndex.get(violatedUniqueIndex(error));
        if (heldIn) return { heldIn };
        throw error;
      }
    },
    groupsHoldingId: bindGroupsByProvidedId({ query }),
    groupsHoldingIds: bindGroupsByProvidedIds({ query }),
  };
}

/** What no two groups have in common. */
const uniqueKeyOf = ({ environmentTag, providedId }: Pick<UserGroupDraft, 'environmentTag' | 'providedId'>): string =>
  `${environmentTag ?? ''} ${providedId}`;

/**
 * In the order of the ids, so that two processes that insert the same ids wait for each other, and not in a circle; of one id
 * the untagged group first, which conflicts with both others.
 */
const insertStatement = `
  insert into user_group as g (${names(insertedColumns)})
  select * from ${unnest(insertedColumns, 'draft')}
  order by provided_id, environment_tag nulls first
  on conflict do nothing
  returning ${userGroupSelectList('g')}`;

/** The unique indexes on the provided id, each by the environment of the tagged groups in it. Untagged groups are in both. */
const environmentsByIndex: ReadonlyMap<string | undefined, EnvironmentTag> = new Map([
  ['user_group_provided_id_customer_key', 'Customer'],
  ['user_group_provided_id_testing_key', 'Testing'],
]);

const setEnvironment = `
  update user_group g set environment_tag = $2::environment_tag, updated_at = greatest(now(), g.updated_at) where g.team_id = $1
  returning ${userGroupSelectList('g')}`;
