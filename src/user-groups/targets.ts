import type { Caller } from '../caller.ts';
import { NotFound, VersionMismatch } from '../errors.ts';
import type { UserGroup } from '../generated/prisma/client.ts';
import type { GroupTarget } from './statements/writes.ts';
import { locate, notFound, type Services, type UserGroupBy } from './user-groups.ts';

/**
 * Finds the group that one call is to change, as {@link locate} does.
 *
 * @throws NotFound also where {@link UserGroupBy} permits no group of the other environment.
 * @throws InvalidInput.
 */
export async function locateToChange(services: Services, caller: Caller, by: UserGroupBy): Promise<UserGroup> {
  const group = await locate(services, caller, by, { withJson: false });
  if (!group) throw notFound();
  const [own, found] = [caller.environmentTag, group.environmentTag];
  if ('staysInEnvironment' in by && own && found && own !== found) {
    throw new NotFound(
      `No user group of ${own}, the environment of this API token, has this id. One of ${found} has: use an API token of that ` +
        'environment, or select the group over GraphQL by its id or teamId.',
    );
  }
  return group;
}

/** What the write of a group that was found takes. The write checks again that the caller has access to it. */
export const targetOf = ({ environmentTag, allEnvironments }: Caller, { teamId }: Pick<UserGroup, 'teamId'>): GroupTarget => ({
  teamId,
  environmentTag,
  allEnvironments,
});

/**
 * Why a write that expected a version found no group.
 *
 * @throws VersionMismatch
 * @throws NotFound when it was deleted, or moved to another environment.
 */
export async function refuse({ db }: Services, caller: Caller, { teamId }: GroupTarget): Promise<never> {
  const current = await db.userGroup.findUnique({ where: { teamId } });
  throw current && caller.canAccess(current) ? new VersionMismatch(current) : notFound();
}
