import type { EnvironmentTag } from '../../generated/prisma/client.ts';
import { type ParameterColumn, unnestWithPosition } from './columns.ts';
import { userGroupSelectList } from './user-group-columns.ts';

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
 * A provided id is looked up in two halves, because each of the two indexes on it covers a part of the groups. Groups are locked
 * in the order of their numbers, so that two processes that write the same groups wait for each other, and not in a circle. The
 * environment is checked on the row that is locked: another statement may have changed it while this one waited.
 */
export const lockTargets = `
  requested as (
    select * from ${unnestWithPosition(Object.values(parameters), 'requested')}
  ), found as materialized (
    select g.team_id as id, r.* from requested r join user_group g on g.team_id = r.target_team_id
    union all
    select g.team_id, r.* from requested r join user_group g on g.provided_id = r.target_provided_id
      and g.environment_tag is distinct from 'Testing' and g.environment_tag is not distinct from r.target_tag
    where r.target_tag is distinct from 'Testing'
    union all
    select g.team_id, r.* from requested r join user_group g on g.provided_id = r.target_provided_id
      and g.environment_tag is distinct from 'Customer' and g.environment_tag = 'Testing'
    where r.target_tag = 'Testing'
  ), locked as (
    select ${userGroupSelectList('g')}, found.position::int from found join user_group g on g.team_id = found.id
      and (found.all_environments or g.environment_tag is not distinct from found.target_tag)
    order by g.team_id for update of g
  )`;
