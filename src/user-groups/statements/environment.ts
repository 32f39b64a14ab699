import {
  type Authored,
  authorAt,
  authorLists,
  insertGroupEvents,
  type OnRecorded,
  textChange,
} from '../../audit-log/statements/insert.ts';
import type { Database } from '../../database/client.ts';
import { columnTypes } from '../../database/columns.ts';
import { violatedUniqueIndex } from '../../database/errors.ts';
import type { EnvironmentTag } from '../../generated/prisma/client.ts';
import {
  changeTime,
  type Expected,
  type Expecting,
  isExpected,
  toExpected,
  userGroupColumnCount,
  userGroupSelectList,
  versionAfter,
} from './columns.ts';

/** A group to move to an environment, and who does. */
export interface GroupMove extends Authored, Expecting {
  readonly teamId: number;
  /** The new environment; `null` means untagged. */
  readonly environmentTag: EnvironmentTag | null;
}

/**
 * The result of a change of environment: the group, or the environment of another group with its id, which does not permit it.
 */
export type EnvironmentChange = Expected | { readonly heldIn: EnvironmentTag };

/** The change of the environment of user groups, which is recorded in the same statement. */
export interface UserGroupMoves {
  /** Moves a group to an environment; undefined when there is no such group. A statement of its own. */
  setEnvironment(move: GroupMove): Promise<EnvironmentChange | undefined>;
}

/** Binds it to a database. */
export function bindUserGroupMoves({ query }: Pick<Database, 'query'>, onRecorded: OnRecorded): UserGroupMoves {
  return {
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
  };
}

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
