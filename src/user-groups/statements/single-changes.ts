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

/** A group to change, and who does. */
interface Target extends Authored {
  readonly teamId: number;
  /** The environment of the groups that may be changed; ignored with `allEnvironments`. */
  readonly environmentTag: EnvironmentTag | null;
  readonly allEnvironments: boolean;
}

/** The new status of a group, every rule checked. */
export interface StatusChange extends Target, Expecting {
  readonly suspended: boolean;
  /** It replaces the stored one; null where it is not suspended. */
  readonly suspendedReason: string | null;
}

/** A group to move to an environment, and who does. */
interface GroupMove extends Authored, Expecting {
  readonly teamId: number;
  /** The new environment; `null` means untagged. */
  readonly environmentTag: EnvironmentTag | null;
}

/** Changes of one group that are rare: each is a statement of its own, which also records it. */
export interface SingleChanges {
  /**
   * Deletes a group with its tokens and returns it as it was; undefined when there is no such group among those that may be
   * deleted.
   */
  deleteOne(deletion: Target & Expecting): Promise<Expected | undefined>;
  /**
   * Suspends or resumes a group, records what differs, and returns it; undefined when there is no such group among those that may
   * be changed.
   */
  setStatus(change: StatusChange): Promise<Expected | undefined>;
  /**
   * Moves a group to an environment; undefined when there is no such group.
   *
   * @returns the group, or the environment of another group with its id, which does not permit it.
   */
  setEnvironment(move: GroupMove): Promise<Expected | { readonly heldIn: EnvironmentTag } | undefined>;
}

/** Binds these changes to a database. */
export function bindSingleChanges({ query }: Pick<Database, 'query'>, onRecorded: OnRecorded): SingleChanges {
  return {
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
    async setStatus({ suspended, suspendedReason, expectedVersions, author, ...target }) {
      const { teamId, environmentTag, allEnvironments } = target;
      const values = [teamId, allEnvironments, environmentTag, expectedVersions, suspendedReason, ...authorLists([{ author }])];
      const [row] = suspended ? await query('suspend-group', suspend, values) : await query('resume-group', resume, values);
      const changed = row && toExpected(row);
      const changesBytes = Number(row?.[userGroupColumnCount + 1]);
      if (changed && 'userGroup' in changed && changesBytes > 0) {
        onRecorded({ author, providedId: changed.userGroup.providedId, changesBytes });
      }
      return changed;
    },
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

// Each statement locks the row first, so that the version that is compared, and what is recorded as the previous value, are those
// of what is replaced.

/** The group that may be changed, locked. */
const lockedTarget = `from user_group g
    where g.team_id = $1 and ($2::bool or g.environment_tag is not distinct from $3::environment_tag) for update`;

const deleteGroup = `
  with locked as (
    select ${userGroupSelectList('g')}, ${isExpected('g.version', '$4::int[]')} as is_expected ${lockedTarget}
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

const nameOf = (suspended: string): string => `case when ${suspended} then 'SUSPENDED' else 'ACTIVE' end`;

const differs = (suspended: boolean): string => `(g.suspended <> ${suspended} or g.suspended_reason is distinct from $5::text)`;

const setStatus = (suspended: boolean): string => `
  with locked as (
    select ${userGroupSelectList('g')}, ${isExpected('g.version', '$4::int[]')} as is_expected ${lockedTarget}
  ), updated as (
    update user_group g set suspended = ${suspended}, suspended_reason = $5::text,
      updated_at = case when ${differs(suspended)} then ${changeTime('g.updated_at')} else g.updated_at end,
      version = case when ${differs(suspended)} then ${versionAfter('g.version')} else g.version end
    from locked where g.team_id = locked.team_id and locked.is_expected
    returning ${userGroupSelectList('g')}, locked.suspended as was_suspended, locked.suspended_reason as previous_reason
  ), changed as (
    select *, concat_ws(',',
      case when suspended <> was_suspended then ${textChange('status', nameOf('was_suspended'), nameOf('suspended'))} end,
      case when suspended_reason is distinct from previous_reason
        then ${textChange('suspendedReason', 'previous_reason', 'suspended_reason')} end) as changes
    from updated
  ), recorded as (${insertGroupEvents({
    type: suspended ? 'user_group.suspended' : 'user_group.resumed',
    table: 'changed',
    author: authorAt(6, '1'),
    changes: `('{' || changes || '}')::json`,
  })}
    from changed where changes <> ''
  )
  select ${userGroupSelectList('changed')}, true, octet_length(changes) from changed
  union all
  select ${userGroupSelectList('locked')}, false, 0 from locked where not locked.is_expected`;

const suspend = setStatus(true);
const resume = setStatus(false);

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
