import { type Authored, authorAt, authorLists, insertGroupEvents, type OnRecorded } from '../../audit-log/statements/insert.ts';
import type { Database } from '../../database/client.ts';
import type { EnvironmentTag } from '../../generated/prisma/client.ts';
import { type Expected, type Expecting, isExpected, toExpected, userGroupSelectList } from './columns.ts';

/** A group to delete, and who does. */
export interface GroupDeletion extends Authored, Expecting {
  readonly teamId: number;
  /** The environment of the groups that may be deleted; ignored with `allEnvironments`. */
  readonly environmentTag: EnvironmentTag | null;
  readonly allEnvironments: boolean;
}

/** The deletion of user groups, which is recorded in the same statement. */
export interface UserGroupDeletions {
  /**
   * Deletes a group with its tokens and returns it as it was; undefined when there is no such group among those that may be
   * deleted. A statement of its own.
   */
  deleteOne(deletion: GroupDeletion): Promise<Expected | undefined>;
}

/** Binds it to a database. */
export function bindUserGroupDeletions({ query }: Pick<Database, 'query'>, onRecorded: OnRecorded): UserGroupDeletions {
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
  };
}

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
