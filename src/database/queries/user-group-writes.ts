import type { Share } from '../../fair-queue.ts';
import type { EnvironmentTag, UserGroup } from '../../generated/prisma/client.ts';
import { createBatchLoader, type Load } from '../batch-loader.ts';
import type { Database } from '../client.ts';
import { maxWriteKeys } from './batch-sizes.ts';
import { names, toLists, unnest } from './columns.ts';
import {
  insertedColumns,
  insertedFields,
  type UserGroupChange,
  type UserGroupDraft,
  UserGroupRow,
  updatedColumns,
  updatedFields,
  userGroupSelectList,
} from './user-group-columns.ts';
import { bindGroupsByProvidedId } from './user-group-lookups.ts';

/** An update of one group. */
export interface UserGroupUpdate extends UserGroupChange {
  readonly teamId: number;
  /** The environment of the groups that may be changed; ignored with `allEnvironments`. */
  readonly environmentTag: EnvironmentTag | null;
  readonly allEnvironments: boolean;
}

/** Writes of user groups. */
export interface UserGroupWrites {
  /** Inserts a group and returns it; undefined when a stored group holds its id. Concurrent drafts for one id insert the first. */
  insertGroup(draft: UserGroupDraft, share?: Share): Promise<UserGroup | undefined>;
  /** Changes a group and returns it; undefined when there is no such group in that environment. A statement of its own. */
  updateGroup(update: UserGroupUpdate): Promise<UserGroup | undefined>;
  /**
   * The groups with this provided id, read where groups are written: the group that kept a draft from being inserted is
   * there, and may not have reached a copy of the database yet.
   */
  readonly groupsHoldingId: Load<string, UserGroup[]>;
}

/** Binds the writes of user groups to a database. */
export function bindUserGroupWrites({ query }: Pick<Database, 'query'>): UserGroupWrites {
  return {
    insertGroup: createBatchLoader<UserGroupDraft, UserGroup>({
      keyOf: uniqueKeyOf,
      maxKeys: maxWriteKeys,
      load: async (drafts) => {
        const inserted = (await query('insert-groups', insertGroups, toLists(insertedFields, drafts))).map(
          (row) => new UserGroupRow(row),
        );
        return new Map(inserted.map((group) => [uniqueKeyOf(group), group]));
      },
    }),
    async updateGroup(update) {
      const values: unknown[] = [update.teamId, update.environmentTag, update.allEnvironments];
      for (const field of updatedFields) values.push(update[field] !== undefined, update[field] ?? null);
      const [row] = await query('update-group', updateGroup, values);
      return row && new UserGroupRow(row);
    },
    groupsHoldingId: bindGroupsByProvidedId({ query }),
  };
}

/** What no two groups have in common. */
const uniqueKeyOf = ({ environmentTag, providedId }: Pick<UserGroupDraft, 'environmentTag' | 'providedId'>): string =>
  `${environmentTag ?? ''} ${providedId}`;

/**
 * In the order of the ids, so that two processes that insert the same ids wait for each other, and not in a circle; of one id
 * the untagged group first, which conflicts with both others.
 */
const insertGroups = `
  insert into user_group as g (${names(insertedColumns)})
  select * from ${unnest(insertedColumns, 'draft')}
  order by provided_id, environment_tag nulls first
  on conflict do nothing
  returning ${userGroupSelectList('g')}`;

/** For each column that may change two parameters, after the three of the condition: whether it changes, and its new value. */
const assignments = updatedColumns.map(({ sql, type }, index) => {
  const parameter = 4 + 2 * index;
  return `${sql} = case when $${parameter} then $${parameter + 1}::${type} else g.${sql} end`;
});

const updateGroup = `
  update user_group g set ${assignments.join(', ')}, updated_at = now()
  where g.team_id = $1 and ($3 or g.environment_tag is not distinct from $2::environment_tag)
  returning ${userGroupSelectList('g')}`;
