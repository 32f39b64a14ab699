import type { EnvironmentTag, UserGroup } from '../generated/prisma/client.ts';
import type { Caller } from './caller.ts';
import { Conflict, VersionMismatch } from './errors.ts';
import { checkSetEnvironment } from './user-group-input.ts';
import { locate, notFound, type Services, type UserGroupBy } from './user-groups.ts';

/**
 * Moves a group to an environment. Its id, number and tokens stay.
 *
 * @param environmentTag `null` means untagged; required, and so never undefined once it is checked.
 * @param expectedVersions the group must have one of these versions; undefined permits any.
 * @throws Forbidden without `admin`.
 * @throws InvalidInput.
 * @throws NotFound.
 * @throws VersionMismatch.
 * @throws Conflict when another group has its id there; or, for untagged, in either environment.
 */
export async function setUserGroupEnvironment(
  services: Services,
  caller: Caller,
  by: UserGroupBy,
  environmentTag: EnvironmentTag | null | undefined,
  expectedVersions?: readonly number[],
): Promise<UserGroup> {
  caller.require('admin');
  checkSetEnvironment({ by, environmentTag, expectedVersions });
  const group = await locate(services, caller, by);
  if (!group) throw notFound();
  const { teamId } = group;
  const { author } = caller;
  const changed = await services.db.userGroup.setEnvironment({
    teamId,
    environmentTag: environmentTag ?? null,
    expectedVersions,
    author,
  });
  if (!changed) throw notFound();
  if ('heldIn' in changed) throw idIsHeld(group.providedId, environmentTag ?? null, changed.heldIn);
  if ('current' in changed) throw new VersionMismatch(changed.current);
  return changed.userGroup;
}

function idIsHeld(providedId: string, wanted: EnvironmentTag | null, heldIn: EnvironmentTag): Conflict {
  const id = `The id ${JSON.stringify(providedId)} also belongs to another user group, in the environment ${heldIn}`;
  const rule = wanted === null ? ', and an untagged group cannot share its id' : '';
  return new Conflict(`${id}${rule}. Delete that group first (deleteUserGroup), or use another environment.`);
}
