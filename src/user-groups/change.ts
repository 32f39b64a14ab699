import { requireEventBytes } from '../audit-log/record.ts';
import type { Caller } from '../caller.ts';
import { Conflict, InvalidInput, VersionMismatch } from '../errors.ts';
import type { EnvironmentTag, UserGroup } from '../generated/prisma/client.ts';
import { changedValues, type UserGroupFields } from './attribute-values.ts';
import { checkMergedProperties, checkSelected, checkSetEnvironment, checkSuspend, checkUpdate } from './rules.ts';
import type { Expected } from './statements/columns.ts';
import type { StatusChange } from './statements/single-changes.ts';
import type { UserGroupTarget } from './statements/update.ts';
import { locateTarget, locateToChange } from './targets.ts';
import { notFound, type Services, type UserGroupBy } from './user-groups.ts';
import { applyMergePatch, type Json, printableIssues } from './values.ts';

/** The changes of an update. A field that is undefined stays as it is. */
export interface UserGroupChanges extends UserGroupFields {
  /** A JSON Merge Patch (RFC 7396) for the properties; not together with `properties`. */
  readonly mergeProperties?: Json | undefined;
  /** The group must have one of these versions, from 1 to 2,147,483,647; undefined permits any. */
  readonly expectedVersions?: readonly number[] | undefined;
}

/**
 * Changes the fields that are given; mapping and properties are replaced whole, and `properties: null` clears them. With
 * `mergeProperties`, the properties are patched instead: of concurrent patches none is lost.
 *
 * @throws Forbidden without `groups:write`.
 * @throws NotFound.
 * @throws VersionMismatch when the group has none of the expected versions. Of concurrent updates that expect one, one is made.
 * @throws InvalidInput, also when the properties would exceed a limit after the merge, and for control characters in a name that
 *   is not the stored one.
 * @throws GatewayError `RATE_LIMITED` when the API token has recorded too much in the audit log.
 */
export async function updateUserGroup(
  services: Services,
  caller: Caller,
  by: UserGroupBy,
  changes: UserGroupChanges,
): Promise<UserGroup> {
  caller.require('groups:write');
  checkUpdate({ by, ...changes });
  requireEventBytes(services.eventBytes, caller);
  const { mergeProperties: patch, expectedVersions, ...given } = changes;
  const { name } = given;
  const nameIssues = name == null ? [] : printableIssues(['name'], name);
  const isPrintable = nameIssues.length === 0;
  const update = {
    ...(await targetOf(services, caller, by)),
    ...changedValues(isPrintable ? given : { ...given, name: undefined }),
    author: caller.author,
  };
  // A name with control characters is not written; it may be given where the group has it, as clients do that send all fields.
  const checkName = isPrintable
    ? undefined
    : (stored: string) => {
        if (stored !== name) throw new InvalidInput(nameIssues);
      };
  const revise = patch === undefined ? undefined : (stored: unknown) => merge(stored as Json, patch);
  const updated =
    checkName || revise || expectedVersions
      ? await services.db.userGroup.patchOne({ ...update, checkName, revise, expectedVersions }, caller.queueKey)
      : await services.db.userGroup.updateOne(update, caller.queueKey);
  if (!updated) throw notFound();
  if ('current' in updated) throw new VersionMismatch(updated.current);
  return updated;
}

/**
 * The group to write, looked up where the statement that writes does not find it.
 *
 * @throws NotFound.
 * @throws InvalidInput.
 */
async function targetOf(services: Services, caller: Caller, by: UserGroupBy): Promise<UserGroupTarget> {
  const { environmentTag, allEnvironments } = caller;
  if (caller.writesWithoutLookup(by)) {
    const teamId = 'teamId' in by ? by.teamId : null;
    return { teamId, providedId: 'providedId' in by ? by.providedId : null, environmentTag, allEnvironments };
  }
  const { teamId } = await locateToChange(services, caller, by);
  return { teamId, providedId: null, environmentTag, allEnvironments };
}

/** Applies a patch that is checked already. @throws InvalidInput when the result exceeds a limit. */
function merge(stored: Json, patch: Json): Json {
  const merged = applyMergePatch(stored, patch);
  checkMergedProperties(merged);
  return merged;
}

/**
 * Deletes a group with its tokens, current and replaced: they stop immediately, and its provided id can be used again. By a
 * provided id, it must be in the environment of the caller: a deletion that is repeated must not reach the other group with it.
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
  caller.require('groups:write');
  checkSelected({ by, expectedVersions });
  const { target } = await locateTarget(services, caller, 'providedId' in by ? { ...by, staysInEnvironment: true } : by);
  return changedGroup(await services.db.userGroup.deleteOne({ ...target, expectedVersions }));
}

/** The group that a change returned. @throws NotFound, VersionMismatch. */
function changedGroup(changed: Expected | undefined): UserGroup {
  if (!changed) throw notFound(); // deleted by another call, or moved to another environment
  if ('current' in changed) throw new VersionMismatch(changed.current);
  return changed.userGroup;
}

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
  const { target, providedId } = await locateTarget(services, caller, by);
  const newEnvironmentTag = environmentTag ?? null;
  const changed = await services.db.userGroup.setEnvironment({ ...target, newEnvironmentTag, expectedVersions });
  if (changed && 'heldIn' in changed) throw idIsHeld(providedId, newEnvironmentTag, changed.heldIn);
  return changedGroup(changed);
}

function idIsHeld(providedId: string, wanted: EnvironmentTag | null, heldIn: EnvironmentTag): Conflict {
  const id = `The id ${JSON.stringify(providedId)} also belongs to another user group, in the environment ${heldIn}`;
  const rule = wanted === null ? ', and an untagged group cannot share its id' : '';
  return new Conflict(`${id}${rule}. Delete that group first (deleteUserGroup), or use another environment.`);
}

/**
 * Suspends a group: its tokens, those in their grace period, and its embed tokens identify nothing from the next request on, on
 * every instance, until {@link resumeUserGroup}. Everything else about it works.
 *
 * @param reason 1 to 255 characters without control characters; it replaces the stored one, also if there is none.
 * @param expectedVersions the group must have one of these versions; undefined permits any.
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
  expectedVersions?: readonly number[],
): Promise<UserGroup> {
  caller.require('groups:write');
  checkSuspend({ by, reason, expectedVersions });
  return setStatus(services, caller, by, { suspended: true, suspendedReason: reason ?? null, expectedVersions });
}

/**
 * Resumes a group that is suspended: its tokens identify it again. One that is not suspended stays as it is.
 *
 * @param expectedVersions the group must have one of these versions; undefined permits any.
 * @throws Forbidden without `groups:write`.
 * @throws InvalidInput.
 * @throws NotFound, also for a token of a group that is suspended.
 * @throws VersionMismatch.
 */
export async function resumeUserGroup(
  services: Services,
  caller: Caller,
  by: UserGroupBy,
  expectedVersions?: readonly number[],
): Promise<UserGroup> {
  caller.require('groups:write');
  checkSelected({ by, expectedVersions });
  return setStatus(services, caller, by, { suspended: false, suspendedReason: null, expectedVersions });
}

async function setStatus(
  services: Services,
  caller: Caller,
  by: UserGroupBy,
  status: Pick<StatusChange, 'suspended' | 'suspendedReason' | 'expectedVersions'>,
): Promise<UserGroup> {
  const { target } = await locateTarget(services, caller, by);
  return changedGroup(await services.db.userGroup.setStatus({ ...target, ...status }));
}
