import type { UserGroup } from '../generated/prisma/client.ts';
import type { Caller } from './caller.ts';
import { VersionMismatch } from './errors.ts';
import { checkDelete } from './user-group-input.ts';
import { locate, notFound, type Services, type UserGroupBy } from './user-groups.ts';

/**
 * Deletes a group with its tokens, current and replaced: they stop immediately, and its provided id can be used again.
 *
 * @param expectedVersions the group must have one of these versions; undefined permits any.
 * @returns the group as it was.
 * @throws Forbidden without `groups:write`.
 * @throws InvalidInput.
 * @throws NotFound.
 * @throws VersionMismatch.
 */
export async function deleteUserGroup(
  services: Services,
  caller: Caller,
  by: UserGroupBy,
  expectedVersions?: readonly number[],
): Promise<UserGroup> {
  checkDelete(caller, { by, expectedVersions });
  const group = await locate(services, caller, by);
  if (!group) throw notFound();
  const { environmentTag, allEnvironments, author } = caller;
  const { teamId } = group;
  const deleted = await services.db.userGroup.deleteOne({ teamId, environmentTag, allEnvironments, expectedVersions, author });
  if (!deleted) throw notFound(); // deleted by another call, or moved to another environment
  if ('current' in deleted) throw new VersionMismatch(deleted.current);
  return deleted.userGroup;
}
