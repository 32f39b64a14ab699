import {
  type Authored,
  authorAt,
  authorLists,
  insertGroupEvents,
  type OnRecorded,
  textChange,
} from '../../audit-log/statements/insert.ts';
import type { Database } from '../../database/client.ts';
import type { EnvironmentTag, UserGroup } from '../../generated/prisma/client.ts';
import { changeTime, UserGroupRow, userGroupColumnCount, userGroupSelectList, versionAfter } from './columns.ts';

/** The new status of a group, every rule checked, and who sets it. */
export interface StatusChange extends Authored {
  readonly teamId: number;
  /** The environment of the groups that may be changed; ignored with `allEnvironments`. */
  readonly environmentTag: EnvironmentTag | null;
  readonly allEnvironments: boolean;
  readonly suspended: boolean;
  /** Null where it is not suspended. */
  readonly suspendedReason: string | null;
}

/** Changes of the status of user groups. */
export interface UserGroupStatuses {
  /**
   * Suspends or resumes a group, records what differs, and returns it; undefined when there is no such group among those that may
   * be changed. A statement of its own.
   */
  setStatus(change: StatusChange): Promise<UserGroup | undefined>;
}

/** Binds the changes of status to a database. */
export function bindUserGroupStatuses({ query }: Pick<Database, 'query'>, onRecorded: OnRecorded): UserGroupStatuses {
  return {
    async setStatus({ teamId, environmentTag, allEnvironments, suspended, suspendedReason, author }) {
      const values = [teamId, allEnvironments, environmentTag, suspendedReason, ...authorLists([{ author }])];
      const { name, text } = suspended ? suspend : resume;
      const [row] = await query(name, text, values);
      if (!row) return undefined;
      const group = new UserGroupRow(row);
      const changesBytes = Number(row[userGroupColumnCount]);
      if (changesBytes > 0) onRecorded({ author, providedId: group.providedId, changesBytes });
      return group;
    },
  };
}

const nameOf = (suspended: string): string => `case when ${suspended} then 'SUSPENDED' else 'ACTIVE' end`;

const differs = (suspended: boolean): string => `(g.suspended <> ${suspended} or g.suspended_reason is distinct from $4::text)`;

/** Locks the row first, so that what is recorded as the previous status is that of what was replaced. */
const setTo = (suspended: boolean): string => `
  with locked as (
    select g.team_id, g.suspended, g.suspended_reason from user_group g
    where g.team_id = $1 and ($2::bool or g.environment_tag is not distinct from $3::environment_tag) for update
  ), updated as (
    update user_group g set suspended = ${suspended}, suspended_reason = $4::text,
      updated_at = case when ${differs(suspended)} then ${changeTime('g.updated_at')} else g.updated_at end,
      version = case when ${differs(suspended)} then ${versionAfter('g.version')} else g.version end
    from locked where g.team_id = locked.team_id
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
    author: authorAt(5, '1'),
    changes: `('{' || changes || '}')::json`,
  })}
    from changed where changes <> ''
  )
  select ${userGroupSelectList('changed')}, octet_length(changes) from changed`;

const suspend = { name: 'suspend-group', text: setTo(true) };
const resume = { name: 'resume-group', text: setTo(false) };
