import {
  type Authored,
  authorAt,
  authorLists,
  insertGroupEvents,
  type OnRecorded,
  objectChange,
  textChange,
} from '../../audit-log/statements/insert.ts';
import type { QueueKey } from '../../concurrency/fair-queue.ts';
import { createWriteLoader } from '../../database/batch-loader.ts';
import type { Database } from '../../database/client.ts';
import { type ParameterColumn, toLists, unnestWithPosition } from '../../database/columns.ts';
import type { EnvironmentTag, UserGroup } from '../../generated/prisma/client.ts';
import {
  changeTime,
  type UserGroupChange,
  UserGroupRow,
  updatedAttributes,
  userGroupColumnCount,
  userGroupColumns,
  userGroupSelectList,
  versionAfter,
} from './columns.ts';

/** The group that a write is about. */
export interface UserGroupTarget {
  /** The group's number or its provided id; the other one is null. */
  readonly teamId: number | null;
  readonly providedId: string | null;
  /** The environment of the groups that may be written. With `allEnvironments`, any group with this number may be. */
  readonly environmentTag: EnvironmentTag | null;
  readonly allEnvironments: boolean;
}

const parameters = {
  teamId: { sql: 'target_team_id', type: 'int' },
  providedId: { sql: 'target_provided_id', type: 'text' },
  environmentTag: { sql: 'target_tag', type: 'environment_tag' },
  allEnvironments: { sql: 'all_environments', type: 'bool' },
} as const satisfies Readonly<Record<keyof UserGroupTarget, ParameterColumn>>;

/** The fields of a target; their values are the first parameters of a statement with {@link lockTargets}. */
export const targetFields = Object.keys(parameters) as (keyof UserGroupTarget)[];

/**
 * Parts of a `with` clause. The last one, `locked`, has the groups that the parameters are about, each with the `position` of its
 * parameters in their lists, from 1; a group that several are about is there several times.
 *
 * A provided id is looked up in two halves, because each of the two indexes on it covers a part of the groups; one at a time
 * (`limit`), because a plan that was made for a half of few groups would read all of them. Groups are locked
 * in the order of their numbers, so that two processes that write the same groups wait for each other, and not in a circle. The
 * environment is checked on the row that is locked: another statement may have changed it while this one waited.
 */
export const lockTargets = `
  requested as (
    select * from ${unnestWithPosition(Object.values(parameters), 'requested')}
  ), found as materialized (
    select g.team_id as id, r.* from requested r join user_group g on g.team_id = r.target_team_id
    union all
    select g.team_id, r.* from requested r cross join lateral (
      select team_id from user_group where provided_id = r.target_provided_id
        and environment_tag is distinct from 'Testing' and environment_tag is not distinct from r.target_tag limit 1
    ) g where r.target_tag is distinct from 'Testing'
    union all
    select g.team_id, r.* from requested r cross join lateral (
      select team_id from user_group where provided_id = r.target_provided_id
        and environment_tag is distinct from 'Customer' and (environment_tag = 'Testing') is true limit 1
    ) g where r.target_tag = 'Testing'
  ), locked as (
    select ${userGroupSelectList('g')}, found.position::int from found join user_group g on g.team_id = found.id
      and (found.all_environments or g.environment_tag is not distinct from found.target_tag)
    order by g.team_id for update of g
  )`;

/** An update of one group, and who makes it. */
export interface UserGroupUpdate extends UserGroupTarget, UserGroupChange, Authored {}

/** Updates of user groups. */
export interface UserGroupUpdates {
  /**
   * Changes a group and returns it; undefined when there is no such group in that environment. Updates of one group that are
   * sent together are made in the order of the calls, and each returns the group as it left it.
   */
  updateOne(update: UserGroupUpdate, queueKey?: QueueKey): Promise<UserGroup | undefined>;
}

/** Binds the updates of user groups to a database. */
export function bindUserGroupUpdates({ query }: Pick<Database, 'query'>, onRecorded: OnRecorded): UserGroupUpdates {
  return { updateOne: createWriteLoader((updates: readonly UserGroupUpdate[]) => updateGroups(query, updates, onRecorded)) };
}

/**
 * Makes all updates in one statement, as if each was made after the one before it.
 *
 * @returns the group as each update left it, by the update's index; none for an update that found no group.
 */
export async function updateGroups(
  query: Database['query'],
  updates: readonly UserGroupUpdate[],
  onRecorded: OnRecorded,
): Promise<ReadonlyMap<number, UserGroup>> {
  const values: unknown[] = toLists(targetFields, updates);
  for (const [name] of updatedAttributes) {
    values.push(updates.map((update) => update[name] !== undefined));
    values.push(updates.map((update) => update[name] ?? null));
  }
  values.push(...authorLists(updates));
  const rows = await query('update-groups', updateStatement, values);
  return new Map(
    rows.map((row) => {
      const index = Number(row[userGroupColumnCount]) - 1;
      const { author } = updates[index] as UserGroupUpdate;
      const group = new UserGroupRow(row);
      const changesBytes = Number(row[userGroupColumnCount + 1]);
      if (changesBytes > 0) onRecorded({ author, providedId: group.providedId, changesBytes });
      return [index, group];
    }),
  );
}

/** For each column that may change two lists of parameters, after those of the targets: whether it changes, and its new value. */
const changes = updatedAttributes.map(([name, { sql, type }], index) => {
  const parameter = targetFields.length + 1 + 2 * index;
  return { name, sql, type, isGiven: `($${parameter}::bool[])[position]`, given: `($${parameter + 1}::${type}[])` };
});

const firstAuthorParameter = targetFields.length + 1 + 2 * changes.length;

type Change = (typeof changes)[number];

/** The value of a column at a row of `folded`: the last one given for the group up to there, or else the stored one. */
const valueAt = (row: string, { sql, given }: Change): string =>
  `case when ${row}.${sql}_from is null then ${row}.${sql} else ${given}[${row}.${sql}_from] end`;

/** The value that the update of a row of `folded` replaces: the last one given before it, or else the stored one. */
const valueBefore = ({ sql, given }: Change): string =>
  `case when folded.${sql}_before is null then folded.${sql} else ${given}[folded.${sql}_before] end`;

/** What the update of a row of `folded` changes in a column; null if it gives no value, or an equal one. */
const changeAt = (change: Change): string => {
  const { name, type, isGiven, given } = change;
  const [before, after] = [valueBefore(change), `${given}[position]`];
  const difference = type === 'json' ? objectChange(name, before, after) : textChange(name, before, after);
  return `case when ${isGiven} and (${before})::text is distinct from (${after})::text then ${difference} end`;
};

/** The version that the update of a row of `folded` leaves. */
const versionAt = (row: string): string => versionAfter(`${row}.version`, `${row}.updates`);

const returned = userGroupColumns.map((sql) => {
  const change = changes.find((each) => each.sql === sql);
  if (change) return valueAt('folded', change);
  if (sql === 'version') return versionAt('folded');
  return sql === 'updated_at' ? 'updated.updated_at' : `folded.${sql}`;
});

/**
 * Several updates of a statement may be about one group, even by different selectors, and PostgreSQL would make one of them. So
 * the group is written once, with the last value given for each column, and each update returns the values given up to it. The
 * version counts each of them.
 */
const updateStatement = `
  with ${lockTargets}, folded as (
    select *, row_number() over "from" as updates, ${['from', 'before']
      .flatMap((name) =>
        changes.map(({ sql, isGiven }) => `max(position) filter (where ${isGiven}) over "${name}" as ${sql}_${name}`),
      )
      .join(', ')}
    from locked window "from" as (partition by team_id order by position),
      "before" as (partition by team_id order by position rows between unbounded preceding and 1 preceding)
  ), last as (
    select distinct on (team_id) * from folded order by team_id, position desc
  ), updated as (
    update user_group g set ${changes.map((change) => `${change.sql} = ${valueAt('last', change)}`).join(', ')}, updated_at = ${changeTime('g.updated_at')},
      version = ${versionAt('last')}
    from last where g.team_id = last.team_id
    returning g.team_id, g.updated_at
  ), changed as (
    select team_id, provided_id, environment_tag, position, concat_ws(',', ${changes.map(changeAt).join(', ')}) as changes from folded
  ), recorded as (${insertGroupEvents({
    type: 'user_group.updated',
    table: 'changed',
    author: authorAt(firstAuthorParameter, 'position'),
    changes: `('{' || changes || '}')::json`,
  })}
    from changed where changes <> '' order by position
  )
  select ${returned.join(', ')}, folded.position, octet_length(changed.changes)
  from folded join updated using (team_id) join changed using (position)`;
