import type { UserGroup } from '../generated/prisma/client.ts';
import type { Caller } from './caller.ts';
import { type Db, locate, notFound, type UserGroupBy } from './user-groups.ts';

/**
 * Deletes a group with its tokens, current and replaced: they stop immediately, and its provided id can be used again.
 *
 * @returns the group as it was found.
 * @throws Forbidden without `groups:write`.
 * @throws InvalidInput.
 * @throws NotFound.
 */
export async function deleteUserGroup(db: Db, caller: Caller, by: UserGroupBy): Promise<UserGroup> {
  caller.require('groups:write');
  const group = await locate(db, caller, by);
  if (!group) throw notFound();
  const { environmentTag, allEnvironments, author } = caller;
  const isDeleted = await db.writes.deleteGroup({ teamId: group.teamId, environmentTag, allEnvironments, author });
  if (!isDeleted) throw notFound(); // deleted by another call, or moved to another environment
  return group;
}
