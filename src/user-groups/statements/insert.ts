import {
  type Author,
  type Authored,
  authorAt,
  authorColumns,
  authorLists,
  authorOf,
  insertGroupEvents,
  maxEventValueBytes,
  type OnRecorded,
  objectChange,
  textChange,
} from '../../audit-log/statements/insert.ts';
import type { QueueKey } from '../../concurrency/fair-queue.ts';
import { createBatchLoader, type Load, maxWriteKeys } from '../../database/batch-loader.ts';
import type { Database } from '../../database/client.ts';
import { columnTypes, names, toLists, unnest } from '../../database/columns.ts';
import { violatedUniqueIndex } from '../../database/errors.ts';
import type { EnvironmentTag, UserGroup } from '../../generated/prisma/client.ts';
import { givenAttributes } from '../attribute-values.ts';
import type { GivenAttribute } from '../attributes.ts';
import {
  changeTime,
  type Expected,
  type Expecting,
  insertedColumns,
  insertedFields,
  insertedTimes,
  isExpected,
  toExpected,
  type UserGroupDraft,
  UserGroupRow,
  userGroupColumnCount,
  userGroupSelectList,
  versionAfter,
} from './columns.ts';
import { bindGroupsByProvidedId, bindGroupsByProvidedIds, type UserGroupLookups } from './look-up.ts';

/** A group to insert, and who does. */
export interface AuthoredDraft extends UserGroupDraft, Authored {}

/**
 * Creation and deletion of user groups, and the change of their environment. Each records what it changed in the same statement.
 */
export interface UserGroupWrites {
  /**
   * Inserts a group and returns it; undefined when a stored group holds its id. Concurrent drafts for one id insert the first.
   */
  insertOne(draft: AuthoredDraft, queueKey?: QueueKey): Promise<UserGroup | undefined>;
  /** Inserts the groups whose ids no stored group holds, in one statement, and returns them. No two drafts may conflict. */
  insertMany(drafts: readonly AuthoredDraft[]): Promise<UserGroup[]>;
  /** Moves a group to an environment; undefined when there is no such group. A statement of its own. */
  setEnvironment(move: GroupMove): Promise<EnvironmentChange | undefined>;
  /**
   * Deletes a group with its tokens and returns it as it was; undefined when there is no such group among those that may be
   * deleted. A statement of its own.
   */
  deleteOne(deletion: GroupDeletion): Promise<Expected | undefined>;
  /**
   * The groups with this provided id, read where groups are written: the group that kept a draft from being inserted is
   * there, and may not have reached a copy of the database yet.
   */
  readonly findHoldersOfId: Load<string, UserGroup[]>;
  /** The same for many ids in one statement. */
  readonly findHoldersOfIds: UserGroupLookups['findByProvidedIds'];
}

/** A group to move to an environment, and who does. */
export interface GroupMove extends Authored, Expecting {
  readonly teamId: number;
  /** The new environment; `null` means untagged. */
  readonly environmentTag: EnvironmentTag | null;
}

/** A group to delete, and who does. */
export interface GroupDeletion extends Authored, Expecting {
  readonly teamId: number;
  /** The environment of the groups that may be deleted; ignored with `allEnvironments`. */
  readonly environmentTag: EnvironmentTag | null;
  readonly allEnvironments: boolean;
}

/**
 * The result of a change of environment: the group, or the environment of another group with its id, which does not permit it.
 */
export type EnvironmentChange = Expected | { readonly heldIn: EnvironmentTag };

/** Binds the writes of user groups to a database. */
export function bindUserGroupWrites({ query }: Pick<Database, 'query'>, onRecorded: OnRecorded): UserGroupWrites {
  const insertMany = async (drafts: readonly AuthoredDraft[]): Promise<UserGroup[]> => {
    const values = [...toLists<UserGroupDraft>(insertedFields, drafts), ...authorLists(drafts)];
    const isLarge = drafts.some((draft) => largeFields.some((name) => Buffer.byteLength(draft[name] ?? '') > maxEventValueBytes));
    const rows = isLarge
      ? await query('insert-large-groups', insertLargeStatement, values)
      : await query('insert-groups', insertStatement, values);
    const authors = new Map(drafts.map((draft) => [uniqueKeyOf(draft), draft.author]));
    return rows.map((row) => {
      const group = new UserGroupRow(row);
      const { providedId } = group;
      const author = authors.get(uniqueKeyOf(group)) as Author;
      onRecorded({ author, providedId, changesBytes: Number(row[userGroupColumnCount]) });
      return group;
    });
  };
  return {
    insertOne: createBatchLoader<AuthoredDraft, UserGroup>({
      keyOf: uniqueKeyOf,
      maxKeys: maxWriteKeys,
      load: async (drafts) => new Map((await insertMany(drafts)).map((group) => [uniqueKeyOf(group), group])),
    }),
    insertMany,
    async setEnvironment({ teamId, environmentTag, expectedVersions, author }) {
      try {
        const values = [teamId, environmentTag, expectedVersions, ...authorLists([{ author }])];
        const [row] = await query('set-group-environment', setEnvironment, values);
        const moved = row && toExpected(row);
        if (moved && 'userGroup' in moved && columnTypes.boolean.decode(row[userGroupColumnCount + 1] as string)) {
          onRecorded({ author, providedId: moved.userGroup.providedId, changesBytes: 0 });
        }
        return moved;
      } catch (error) {
        const heldIn = environmentsByIndex.get(violatedUniqueIndex(error));
        if (heldIn) return { heldIn };
        throw error;
      }
    },
    async deleteOne({ teamId, environmentTag, allEnvironments, expectedVersions, author }) {
      const values = [teamId, allEnvironments, environmentTag, expectedVersions, ...authorLists([{ author }])];
      const [row] = await query('delete-group', deleteGroup, values);
      const deleted = row && toExpected(row);
      if (deleted && 'userGroup' in deleted) {
        const { providedId } = deleted.userGroup;
        // An index has the ids of deleted groups once more.
        onRecorded({ author, providedId, changesBytes: Buffer.byteLength(providedId) });
      }
      return deleted;
    },
    findHoldersOfId: bindGroupsByProvidedId({ query }),
    findHoldersOfIds: bindGroupsByProvidedIds({ query }),
  };
}

/** What no two groups have in common. */
const uniqueKeyOf = ({ environmentTag, providedId }: Pick<UserGroupDraft, 'environmentTag' | 'providedId'>): string =>
  `${environmentTag ?? ''} ${providedId}`;

const largeFields = givenAttributes.filter(([, { hasLargeMembers }]) => hasLargeMembers).map(([name]) => name);

/**
 * What a new group was given for an attribute, as SQL: of a group in `inserted` the text `"name":{"from":null,"to":…}`; null if
 * it was given nothing.
 *
 * @param isLarge whether its JSON may have members that are larger than events have them.
 */
function initialChange(name: string, { sql, type, nullable, hasLargeMembers }: GivenAttribute, isLarge: boolean): string {
  const value = `inserted.${sql}`;
  if (type === 'text') return `case when ${value} is not null then ${textChange(name, 'null', value)} end`;
  if (isLarge && hasLargeMembers) return `case when ${value} is not null then ${objectChange(name, 'null::json', value)} end`;
  const recorded = `'"${name}":{"from":null,"to":' || ${value}::text || '}'`;
  return nullable ? recorded : `case when ${value}::text <> '{}' then ${recorded} end`;
}

/**
 * Inserts groups, and records what they were given.
 *
 * In the order of the ids, so that two processes that insert the same ids wait for each other, and not in a circle; of one id
 * the untagged group first, which conflicts with both others.
 */
const insertWith = (isLarge: boolean): string => `
  with draft as (
    select * from ${unnest([...insertedColumns, ...authorColumns], 'draft')}
  ), inserted as (
    insert into user_group as g (${names(insertedColumns)}, ${insertedTimes.columns})
    select ${names(insertedColumns)}, ${insertedTimes.values} from draft, ${insertedTimes.from}
    order by provided_id, environment_tag nulls first
    on conflict do nothing
    returning ${userGroupSelectList('g')}
  ), recorded as (${insertGroupEvents({
    type: 'user_group.created',
    table: 'inserted',
    author: authorOf('draft'),
    changes: `('{' || concat_ws(',', ${givenAttributes.map(([name, attribute]) => initialChange(name, attribute, isLarge)).join(', ')}) || '}')::json`,
  })}
    from inserted join draft using (token_hash)
    returning team_id, octet_length(changes::text) as bytes
  )
  select ${userGroupSelectList('inserted')}, recorded.bytes from inserted join recorded using (team_id)`;

const insertStatement = insertWith(false);

/** It takes longer, so only creations that need it use it. */
const insertLargeStatement = insertWith(true);

/** The unique indexes on the provided id, each by the environment of the tagged groups in it. Untagged groups are in both. */
const environmentsByIndex: ReadonlyMap<string | undefined, EnvironmentTag> = new Map([
  ['user_group_provided_id_customer_key', 'Customer'],
  ['user_group_provided_id_testing_key', 'Testing'],
]);

/**
 * Locks the row first, so that the version that is compared, and what is recorded as the previous environment, are those of what
 * was replaced.
 */
const setEnvironment = `
  with locked as (
    select ${userGroupSelectList('g')}, ${isExpected('g.version', '$3::int[]')} as is_expected
    from user_group g where g.team_id = $1 for update
  ), changed as (
    update user_group g set environment_tag = $2::environment_tag, updated_at = ${changeTime('g.updated_at')}, version = ${versionAfter('g.version')}
    from locked where g.team_id = locked.team_id and locked.is_expected
    returning ${userGroupSelectList('g')}, locked.environment_tag as previous
  ), recorded as (${insertGroupEvents({
    type: 'user_group.environment_changed',
    table: 'changed',
    author: authorAt(4, '1'),
    changes: `('{' || ${textChange('environmentTag', 'upper(changed.previous::text)', 'upper(changed.environment_tag::text)')} || '}')::json`,
  })}
    from changed where changed.previous is distinct from changed.environment_tag
  )
  select ${userGroupSelectList('changed')}, true, changed.previous is distinct from changed.environment_tag from changed
  union all
  select ${userGroupSelectList('locked')}, false, false from locked where not locked.is_expected`;

/** Locks the row first, so that the version that is compared is that of what is deleted. */
const deleteGroup = `
  with locked as (
    select ${userGroupSelectList('g')}, ${isExpected('g.version', '$4::int[]')} as is_expected
    from user_group g where g.team_id = $1 and ($2::bool or g.environment_tag is not distinct from $3::environment_tag) for update
  ), deleted as (
    delete from user_group g using locked where g.team_id = locked.team_id and locked.is_expected
    returning g.team_id, g.provided_id, g.environment_tag
  ), recorded as (${insertGroupEvents({
    type: 'user_group.deleted',
    table: 'deleted',
    author: authorAt(5, '1'),
    changes: 'null::json',
  })}
    from deleted
  )
  select ${userGroupSelectList('locked')}, locked.is_expected from locked`;
