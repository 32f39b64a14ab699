import type { Share } from '../../fair-queue.ts';
import type { UserGroup } from '../../generated/prisma/client.ts';
import { createBatchLoader } from '../batch-loader.ts';
import type { Database } from '../client.ts';
import { maxWriteKeys } from './batch-sizes.ts';
import { toLists } from './columns.ts';
import {
  type UserGroupChange,
  UserGroupRow,
  updatedColumns,
  updatedFields,
  userGroupColumnCount,
  userGroupColumns,
} from './user-group-columns.ts';
import { lockTargets, targetFields, type UserGroupTarget } from './user-group-targets.ts';

/** An update of one group. */
export interface UserGroupUpdate extends UserGroupTarget, UserGroupChange {}

/** Updates of user groups. */
export interface UserGroupUpdates {
  /**
   * Changes a group and returns it; undefined when there is no such group in that environment. Updates of one group that are
   * sent together are made in the order of the calls, and each returns the group as it left it.
   */
  updateGroup(update: UserGroupUpdate, share?: Share): Promise<UserGroup | undefined>;
}

/** Binds the updates of user groups to a database. */
export function bindUserGroupUpdates({ query }: Pick<Database, 'query'>): UserGroupUpdates {
  const load = createBatchLoader<{ readonly update: UserGroupUpdate; readonly number: number }, UserGroup>({
    keyOf: ({ number }) => String(number), // never shared: each update is made
    maxKeys: maxWriteKeys,
    load: async (keys) => {
      const groups = await updateGroups(
        query,
        keys.map(({ update }) => update),
      );
      return new Map(
        keys.flatMap(({ number }, index) => {
          const group = groups.get(index);
          return group ? [[String(number), group]] : [];
        }),
      );
    },
  });
  let last = 0;
  return {
    updateGroup(update, share) {
      last += 1;
      return load({ update, number: last }, share);
    },
  };
}

/**
 * Makes all updates in one statement, as if each was made after the one before it.
 *
 * @returns the group as each update left it, by the update's index; none for an update that found no group.
 */
export async function updateGroups(
  query: Database['query'],
  updates: readonly UserGroupUpdate[],
): Promise<ReadonlyMap<number, UserGroup>> {
  const values: unknown[] = toLists(targetFields, updates);
  for (const field of updatedFields) {
    values.push(updates.map((update) => update[field] !== undefined));
    values.push(updates.map((update) => update[field] ?? null));
  }
  const rows = await query('update-groups', updateStatement, values);
  return new Map(rows.map((row) => [Number(row[userGroupColumnCount]) - 1, new UserGroupRow(row)]));
}

/** For each column that may change two lists of parameters, after those of the targets: whether it changes, and its new value. */
const changes = updatedColumns.map(({ sql, type }, index) => {
  const parameter = targetFields.length + 1 + 2 * index;
  return { sql, isGiven: `($${parameter}::bool[])[position]`, given: `($${parameter + 1}::${type}[])` };
});

/** The value of a column at a row of `folded`: the last one given for the group up to there, or else the stored one. */
const valueAt = (row: string, { sql, given }: (typeof changes)[number]): string =>
  `case when ${row}.${sql}_from is null then ${row}.${sql} else ${given}[${row}.${sql}_from] end`;

const returned = userGroupColumns.map((sql) => {
  const change = changes.find((each) => each.sql === sql);
  if (change) return valueAt('folded', change);
  return sql === 'updated_at' ? 'updated.updated_at' : `folded.${sql}`;
});

/**
 * Several updates of a statement may be about one group, even by different selectors, and PostgreSQL would make one of them. So
 * the group is written once, with the last value given for each column, and each update returns the values given up to it.
 */
const updateStatement = `
  with ${lockTargets}, folded as (
    select *, ${changes.map(({ sql, isGiven }) => `max(position) filter (where ${isGiven}) over former as ${sql}_from`).join(', ')}
    from locked window former as (partition by team_id order by position)
  ), last as (
    select distinct on (team_id) * from folded order by team_id, position desc
  ), updated as (
    update user_group g set ${changes.map((change) => `${change.sql} = ${valueAt('last', change)}`).join(', ')}, updated_at = greatest(now(), g.updated_at)
    from last where g.team_id = last.team_id
    returning g.team_id, g.updated_at
  )
  select ${returned.join(', ')}, folded.position from folded join updated using (team_id)`;
