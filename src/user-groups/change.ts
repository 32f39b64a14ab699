import { changeAs } from '../audit-log/statements/author.ts';
import type { Caller } from '../caller.ts';
import { isUniqueViolation } from '../database/errors.ts';
import { Conflict, InvalidInput } from '../errors.ts';
import type { EnvironmentTag, Prisma, UserGroup } from '../generated/prisma/client.ts';
import { changedValues, type UserGroupFields } from './attribute-values.ts';
import { checkMergedProperties, checkSelected, checkSetEnvironment, checkSuspend, checkUpdate } from './rules.ts';
import { type GroupTarget, lockGroup, updateGroup } from './statements/writes.ts';
import { locateToChange, refuse, targetOf } from './targets.ts';
import type { Services, UserGroupBy } from './user-groups.ts';
import { applyMergePatch, type Json, printableIssues } from './values.ts';

/** The changes of an update. A field that is undefined stays as it is. */
export interface UserGroupChanges extends UserGroupFields {
  /** A JSON Merge Patch (RFC 7396) for the properties; not together with `properties`. */
  readonly mergeProperties?: Json | undefined;
  /** The version that the group must have; none permits any. */
  readonly expectedVersion?: number | null | undefined;
}

/**
 * Changes the fields that are given; mapping and properties are replaced whole, and `properties: null` clears them. With
 * `mergeProperties`, the properties are patched instead: of concurrent patches none is lost.
 *
 * @throws Forbidden without `groups:write`.
 * @throws NotFound.
 * @throws VersionMismatch when the group has another version. Of concurrent updates that expect one, one is made.
 * @throws InvalidInput, also when the properties would exceed a limit after the merge, and for characters that new names must not
 *   have in a name that is not the stored one.
 */
export async function updateUserGroup(
  services: Services,
  caller: Caller,
  by: UserGroupBy,
  changes: UserGroupChanges,
): Promise<UserGroup> {
  caller.require('groups:write');
  const { mergeProperties, expectedVersion, ...given } = changes;
  checkUpdate({ by, ...changes });
  const stored = await locateToChange(services, caller, by);
  const target = targetOf(caller, stored);
  const nameIssues = given.name == null || given.name === stored.name ? [] : printableIssues(['name'], given.name);
  if (nameIssues.length > 0) throw new InvalidInput(nameIssues);
  const change = changedValues(given);
  const { sql } = services;
  const { author } = caller;
  const updated =
    mergeProperties === undefined
      ? await updateGroup(sql.query, author, target, change, expectedVersion)
      : await sql.transaction(async (query) => {
          const locked = await lockGroup(query, target);
          if (!locked || locked.version !== (expectedVersion ?? locked.version)) return undefined;
          const properties = JSON.stringify(merge(locked.properties as Json, mergeProperties));
          return updateGroup(query, author, target, { ...change, properties }, expectedVersion);
        });
  return updated ?? refuse(services, caller, target);
}

/** Applies a patch that is checked already. @throws InvalidInput when the result exceeds a limit. */
function merge(stored: Json, patch: Json): Json {
  const merged = applyMergePatch(stored, patch);
  checkMergedProperties(merged);
  return merged;
}

/** The condition under which Prisma writes a group. */
const whereOf = (
  { teamId, environmentTag, allEnvironments }: GroupTarget,
  version: number | null | undefined,
): Prisma.UserGroupWhereInput => ({
  teamId,
  ...(!allEnvironments && { environmentTag }),
  ...(version != null && { version }),
});

/** Changes a group by Prisma's model API. @throws NotFound, VersionMismatch. */
async function change(
  services: Services,
  caller: Caller,
  target: GroupTarget,
  data: Prisma.UserGroupUpdateManyMutationInput,
  expectedVersion: number | null | undefined,
): Promise<UserGroup> {
  const [changed] = await changeAs(services.db, caller.author, (transaction) =>
    transaction.userGroup.updateManyAndReturn({ where: whereOf(target, expectedVersion), data }),
  );
  return changed ?? refuse(services, caller, target);
}

/**
 * Deletes a group with its tokens, current and replaced: they stop immediately, and its provided id can be used again. By a
 * provided id, it must be in the environment of the caller: a deletion that is repeated must not reach the other group with it.
 *
 * @param expectedVersion the version that the group must have; none permits any.
 * @returns the group's number.
 * @throws Forbidden without `groups:write`.
 * @throws InvalidInput.
 * @throws NotFound.
 * @throws VersionMismatch.
 */
export async function deleteUserGroup(
  services: Services,
  caller: Caller,
  by: UserGroupBy,
  expectedVersion?: number | null,
): Promise<number> {
  caller.require('groups:write');
  checkSelected({ by, expectedVersion });
  const group = await locateToChange(services, caller, 'providedId' in by ? { ...by, staysInEnvironment: true } : by);
  const target = targetOf(caller, group);
  const { count } = await changeAs(services.db, caller.author, (transaction) =>
    transaction.userGroup.deleteMany({ where: whereOf(target, expectedVersion) }),
  );
  return count > 0 ? target.teamId : refuse(services, caller, target);
}

/**
 * Moves a group to an environment. Its id, number and tokens stay.
 *
 * @param environmentTag `null` means untagged; required, and so never undefined once it is checked.
 * @param expectedVersion the version that the group must have; none permits any.
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
  expectedVersion?: number | null,
): Promise<UserGroup> {
  caller.require('admin');
  checkSetEnvironment({ by, environmentTag, expectedVersion });
  const group = await locateToChange(services, caller, by);
  const wanted = environmentTag ?? null;
  try {
    return await change(services, caller, targetOf(caller, group), { environmentTag: wanted }, expectedVersion);
  } catch (error) {
    throw isUniqueViolation(error) ? idIsHeld(group, wanted) : error;
  }
}

function idIsHeld({ providedId, environmentTag }: UserGroup, wanted: EnvironmentTag | null): Conflict {
  const heldIn = wanted ?? (environmentTag === 'Customer' ? 'Testing' : 'Customer');
  const id = `The id ${JSON.stringify(providedId)} also belongs to another user group, in the environment ${heldIn}`;
  const rule = wanted === null ? ', and an untagged group cannot share its id' : '';
  return new Conflict(`${id}${rule}. Delete that group first (deleteUserGroup), or use another environment.`);
}

/**
 * Suspends a group: its tokens, those in their grace period, and its embed tokens identify nothing from the next request on, on
 * every instance, until {@link resumeUserGroup}. Everything else about it works.
 *
 * @param reason 1 to 255 characters without control characters; it replaces the stored one, also if there is none.
 * @param expectedVersion the version that the group must have; none permits any.
 * @throws Forbidden without `groups:write`.
 * @throws InvalidInput.
 * @throws NotFound, also for a token of a group that is suspended.
 * @throws VersionMismatch.
 */
export async function suspendUserGroup(
  services: Services,
  caller: Caller,
  by: UserGroupBy,
  reason?: string | null,
  expectedVersion?: number | null,
): Promise<UserGroup> {
  caller.require('groups:write');
  checkSuspend({ by, reason, expectedVersion });
  const target = targetOf(caller, await locateToChange(services, caller, by));
  return change(services, caller, target, { suspended: true, suspendedReason: reason ?? null }, expectedVersion);
}

/**
 * Resumes a group that is suspended: its tokens identify it again. One that is not suspended stays as it is.
 *
 * @param expectedVersion the version that the group must have; none permits any.
 * @throws Forbidden without `groups:write`.
 * @throws InvalidInput.
 * @throws NotFound, also for a token of a group that is suspended.
 * @throws VersionMismatch.
 */
export async function resumeUserGroup(
  services: Services,
  caller: Caller,
  by: UserGroupBy,
  expectedVersion?: number | null,
): Promise<UserGroup> {
  caller.require('groups:write');
  checkSelected({ by, expectedVersion });
  const target = targetOf(caller, await locateToChange(services, caller, by));
  return change(services, caller, target, { suspended: false, suspendedReason: null }, expectedVersion);
}
