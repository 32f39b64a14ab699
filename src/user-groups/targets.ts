import type { Caller } from '../caller.ts';
import { NotFound } from '../errors.ts';
import type { UserGroup } from '../generated/prisma/client.ts';
import type { Target } from './statements/single-changes.ts';
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

/**
 * Finds the group that one call is to change; the change checks again that the caller has access to it.
 *
 * @throws NotFound.
 * @throws InvalidInput.
 */
export async function locateTarget(
  services: Services,
  caller: Caller,
  by: UserGroupBy,
): Promise<{ readonly target: Target; readonly providedId: string }> {
  const { teamId, providedId } = await locateToChange(services, caller, by);
  const { environmentTag, allEnvironments, author } = caller;
  return { target: { teamId, environmentTag, allEnvironments, author }, providedId };
}
