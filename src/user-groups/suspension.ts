import type { Caller } from '../caller.ts';
import type { UserGroup } from '../generated/prisma/client.ts';
import { checkResume, checkSuspend } from './rules.ts';
import { locate, notFound, type Services, type UserGroupBy } from './user-groups.ts';

/**
 * Suspends a group: its tokens, those in their grace period, and its embed tokens identify nothing from the next request on, on
 * every instance, until {@link resumeUserGroup}. Everything else about it works. Suspending it again replaces the reason.
 *
 * @param reason 1 to 255 characters without control characters; null and undefined give none.
 * @throws Forbidden without `groups:write`.
 * @throws InvalidInput.
 * @throws NotFound, also for a token of a group that is suspended.
 */
export async function suspendUserGroup(
  services: Services,
  caller: Caller,
  by: UserGroupBy,
  reason?: string | null,
): Promise<UserGroup> {
  caller.require('groups:write');
  checkSuspend({ by, reason });
  return setStatus(services, caller, by, { suspended: true, suspendedReason: reason ?? null });
}

/**
 * Resumes a group that is suspended: its tokens identify it again. One that is not suspended stays as it is.
 *
 * @throws Forbidden without `groups:write`.
 * @throws InvalidInput.
 * @throws NotFound, also for a token of a group that is suspended.
 */
export async function resumeUserGroup(services: Services, caller: Caller, by: UserGroupBy): Promise<UserGroup> {
  caller.require('groups:write');
  checkResume({ by });
  return setStatus(services, caller, by, { suspended: false, suspendedReason: null });
}

async function setStatus(
  services: Services,
  caller: Caller,
  by: UserGroupBy,
  status: Pick<UserGroup, 'suspended' | 'suspendedReason'>,
): Promise<UserGroup> {
  const group = await locate(services, caller, by, { withJson: false });
  if (!group) throw notFound();
  const { teamId } = group;
  const { environmentTag, allEnvironments, author } = caller;
  const changed = await services.db.userGroup.setStatus({ teamId, environmentTag, allEnvironments, ...status, author });
  if (!changed) throw notFound(); // deleted, or moved to another environment
  return changed;
}
