import {
  type Author,
  type Authored,
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
import { createBatchLoader, type Load, writeLimits } from '../../database/batch-loader.ts';
import type { Database } from '../../database/client.ts';
import { names, toLists, unnest } from '../../database/columns.ts';
import type { UserGroup } from '../../generated/prisma/client.ts';
import { givenAttributes } from '../attribute-values.ts';
import type { GivenAttribute } from '../attributes.ts';
import {
  insertedColumns,
  insertedFields,
  insertedTimes,
  type UserGroupDraft,
  UserGroupRow,
  userGroupColumnCount,
  userGroupSelectList,
} from './columns.ts';
import { bindGroupsByProvidedId, type UserGroupLookups } from './look-up.ts';

/** A group to insert, and who does. */
export interface AuthoredDraft extends UserGroupDraft, Authored {}

/** Creation of user groups, which is recorded in the same statement. */
export interface UserGroupInserts {
  /**
   * Inserts a group and returns it; undefined when a stored group holds its id. Concurrent drafts for one id insert the first.
   */
  insertOne(draft: AuthoredDraft, queueKey?: QueueKey): Promise<UserGroup | undefined>;
  /** Inserts the groups whose ids no stored group holds, in one statement, and returns them. No two drafts may conflict. */
  insertMany(drafts: readonly AuthoredDraft[]): Promise<UserGroup[]>;
  /**
   * The groups with this provided id, read where groups are written: the group that kept a draft from being inserted is
   * there, and may not have reached a copy of the database yet.
   */
  readonly findHoldersOfId: Load<string, UserGroup[]>;
  /** The same for many ids in one statement. */
  readonly findHoldersOfIds: UserGroupLookups['findByProvidedIds'];
}

/** Binds the creation of user groups to a database. */
export function bindUserGroupInserts({ query }: Pick<Database, 'query'>, onRecorded: OnRecorded): UserGroupInserts {
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
  const holders = bindGroupsByProvidedId({ query });
  return {
    insertOne: createBatchLoader<AuthoredDraft, UserGroup>({
      keyOf: uniqueKeyOf,
      ...writeLimits,
      load: async (drafts) => new Map((await insertMany(drafts)).map((group) => [uniqueKeyOf(group), group])),
    }),
    insertMany,
    findHoldersOfId: holders.findByProvidedId,
    findHoldersOfIds: holders.findByProvidedIds,
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
