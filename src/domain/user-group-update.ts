import type { UserGroupTarget } from '../database/queries/user-group-targets.ts';
import type { UserGroup } from '../generated/prisma/client.ts';
import type { Caller } from './caller.ts';
import { InvalidInput, VersionMismatch } from './errors.ts';
import { requireEventBytes } from './event-limits.ts';
import { type Json, printableIssues } from './limits.ts';
import { applyMergePatch } from './merge-patch.ts';
import { mappingText } from './user-group-creation.ts';
import { checkMergedProperties, checkUpdate } from './user-group-input.ts';
import { locate, notFound, type Services, type UserGroupBy, type UserGroupFields } from './user-groups.ts';

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
  checkUpdate(caller, { by, ...changes });
  requireEventBytes(services.eventBytes, caller);
  const { name, mapping, properties, mergeProperties: patch, expectedVersions } = changes;
  const nameIssues = name == null ? [] : printableIssues(['name'], name);
  const isPrintable = nameIssues.length === 0;
  const update = {
    name: isPrintable ? (name ?? undefined) : undefined,
    ...(await targetOf(services, caller, by)),
    author: caller.author,
    mapping: mapping == null ? undefined : mappingText(mapping),
    properties: properties == null ? properties : JSON.stringify(properties),
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
      ? await services.db.userGroup.patchOne({ ...update, checkName, revise, expectedVersions }, caller.share)
      : await services.db.userGroup.updateOne(update, caller.share);
  if (!updated) throw notFound();
  if ('current' in updated) throw new VersionMismatch(updated.current);
  return updated;
}

/**
 * The group to write. A number, and an id in the caller's own environment, are looked up by the statement that writes. A token
 * and an id that may mean a group of any environment are looked up before.
 *
 * @throws NotFound.
 * @throws InvalidInput.
 */
async function targetOf(services: Services, caller: Caller, by: UserGroupBy): Promise<UserGroupTarget> {
  const { environmentTag, allEnvironments } = caller;
  if ('teamId' in by) return { teamId: by.teamId, providedId: null, environmentTag, allEnvironments };
  if ('providedId' in by && !allEnvironments) {
    return { teamId: null, providedId: by.providedId, environmentTag, allEnvironments };
  }
  const group = await locate(services, caller, by);
  if (!group) throw notFound();
  return { teamId: group.teamId, providedId: null, environmentTag, allEnvironments };
}

/** Applies a patch that is checked already. @throws InvalidInput when the result exceeds a limit. */
function merge(stored: Json, patch: Json): Json {
  const merged = applyMergePatch(stored, patch);
  checkMergedProperties(merged);
  return merged;
}
