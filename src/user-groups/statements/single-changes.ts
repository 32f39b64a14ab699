import {
  type Authored,
  authorAt,
  authorLists,
  insertGroupEvents,
  type OnRecorded,
  textChange,
} from '../../audit-log/statements/insert.ts';
import type { Database } from '../../database/client.ts';
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
export interface Target extends Authored {
  readonly teamId: number;
  /** The environment of the groups that may be changed; ignored with `allEnvironments`. */
  readonly environmentTag: EnvironmentTag | null;
  readonly allEnvironments: boolean;
}

/** The first parameters of a statement with {@link lockTarget}, up to the seventh. */
export const targetValues = ({ teamId, allEnvironments, environmentTag, author }: Target): unknown[] => [
  teamId,
  allEnvironments,
  environmentTag,
  ...authorLists([{ author }]),
];

/** The values of the author's columns in such a statement. */
export const targetAuthor = authorAt(4, '1');

/**
 * A part of a `with` clause: the group that may be changed. It is locked, so that what is compared, and what is recorded as the
 * previous value, are those of what is replaced.
 *
 * @param more further columns of the group `g`, as SQL.
 */
export const lockTarget = (...more: string[]): string => `
  locked as (
    select ${[userGroupSelectList('g'), ...more].join(', ')} from user_group g
    where g.team_id = $1 and ($2::bool or g.environment_tag is not distinct from $3::environment_tag) for update
  )`;

/** The new status of a group, every rule checked. */
export interface StatusChange extends Target, Expecting {
  readonly suspended: boolean;
  /** It replaces the stored one; null where it is not suspended. */
  readonly suspendedReason: string | null;
}

/** A group to move to an environment, and who does. */
interface GroupMove extends Target, Expecting {
  /** The new environment; `null` means untagged. */
  readonly newEnvironmentTag: EnvironmentTag | null;
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
   * Moves a group to an environment; undefined when there is no such group among those that may be changed.
   *
   * @returns the group, or the environment of another group with its id, which does not permit it.
   */
  setEnvironment(move: GroupMove): Promise<Expected | { readonly heldIn: EnvironmentTag } | undefined>;
}

/** Binds these changes to a database. */
export function bindSingleChanges({ query }: Pick<Database, 'query'>, onRecorded: OnRecorded): SingleChanges {
  async function change(
    name: string,
    text: string,
    { expectedVersions, ...target }: Target & Expecting,
    ...values: readonly unknown[]
  ): Promise<Expected | undefined> {
    const [row] = await query(name, text, [...targetValues(target), expectedVersions, ...values]);
    const changed = row && toExpected(row);
    const changesBytes = row?.[userGroupColumnCount + 1];
    if (changed && 'userGroup' in changed && changesBytes != null) {
      const { providedId } = changed.userGroup;
      onRecorded({ author: target.author, providedId, changesBytes: Number(changesBytes) });
    }
    return changed;
  }

  return {
    deleteOne: (deletion) => change('delete-group', deleteGroup, deletion),
    setStatus: ({ suspended, suspendedReason, ...target }) =>
      suspended
        ? change('suspend-group', suspend, target, suspendedReason)
        : change('resume-group', resume, target, suspendedReason),
    async setEnvironment({ newEnvironmentTag, ...target }) {
      try {
        return await change('set-group-environment', setEnvironment, target, newEnvironmentTag);
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

// Each statement returns the group, whether its version was expected, and the bytes of the changes; null if nothing is recorded.

const lockExpected = lockTarget(`${isExpected('g.version', '$8::int[]')} as is_expected`);

const orOtherVersion = `
  union all
  select ${userGroupSelectList('locked')}, false, null from locked where not locked.is_expected`;

/** An index has the ids of deleted groups once more. */
const deleteGroup = `
  with ${lockExpected}, deleted as (
    delete from user_group g using locked where g.team_id = locked.team_id and locked.is_expected
    returning ${userGroupSelectList('g')}
  ), recorded as (${insertGroupEvents({
    type: 'user_group.deleted',
    table: 'deleted',
    author: targetAuthor,
    changes: 'null::json',
  })}
    from deleted
  )
  select ${userGroupSelectList('deleted')}, true, octet_length(deleted.provided_id) from deleted ${orOtherVersion}`;

const nameOf = (suspended: string): string => `case when ${suspended} then 'SUSPENDED' else 'ACTIVE' end`;

const differs = (suspended: boolean): string => `(g.suspended <> ${suspended} or g.suspended_reason is distinct from $9::text)`;

const setStatus = (suspended: boolean): string => `
  with ${lockExpected}, updated as (
    update user_group g set suspended = ${suspended}, suspended_reason = $9::text,
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
    author: targetAuthor,
    changes: `('{' || changes || '}')::json`,
  })}
    from changed where changes <> ''
  )
  select ${userGroupSelectList('changed')}, true, nullif(octet_length(changes), 0) from changed ${orOtherVersion}`;

const suspend = setStatus(true);
const resume = setStatus(false);

const setEnvironment = `
  with ${lockExpected}, changed as (
    update user_group g set environment_tag = $9::environment_tag, updated_at = ${changeTime('g.updated_at')}, version = ${versionAfter('g.version')}
    from locked where g.team_id = locked.team_id and locked.is_expected
    returning ${userGroupSelectList('g')}, locked.environment_tag as previous
  ), recorded as (${insertGroupEvents({
    type: 'user_group.environment_changed',
    table: 'changed',
    author: targetAuthor,
    changes: `('{' || ${textChange('environmentTag', 'upper(changed.previous::text)', 'upper(changed.environment_tag::text)')} || '}')::json`,
  })}
    from changed where changed.previous is distinct from changed.environment_tag
  )
  select ${userGroupSelectList('changed')}, true, case when changed.previous is distinct from changed.environment_tag then 0 end
  from changed ${orOtherVersion}`;
