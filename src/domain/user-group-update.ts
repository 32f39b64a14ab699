import type { UserGroupTarget } from '../database/queries/user-group-targets.ts';
import type { UserGroup } from '../generated/prisma/client.ts';
import type { Caller } from './caller.ts';
import { requireEventBytes } from './event-limits.ts';
import type { Json } from './limits.ts';
import { applyMergePatch } from './merge-patch.ts';
import { mappingText } from './user-group-creation.ts';
import { checkMergedProperties, checkUpdate } from './user-group-input.ts';
import { type Db, locate, notFound, type UserGroupBy, type UserGroupFields } from './user-groups.ts';

/** The changes of an update. A field that is undefined stays as it is. */
export interface UserGroupChanges extends UserGroupFields {
  /** A JSON Merge Patch (RFC 7396) for the properties; not together with `properties`. */
  readonly mergeProperties?: Json | undefined;
}

/**
 * Changes the fields that are given; mapping and properties are replaced whole, and `properties: null` clears them. With
 * `mergeProperties`, the properties are patched instead: of concurrent patches none is lost.
 *
 * @throws Forbidden without `groups:write`.
 * @throws NotFound.
 * @throws InvalidInput, also when the properties would exceed a limit after the merge.
 * @throws GatewayError `RATE_LIMITED` when the API token has recorded too much in the audit log.
 */
export async function updateUserGroup(db: Db, caller: Caller, by: UserGroupBy, changes: UserGroupChanges): Promise<UserGroup> {
  checkUpdate(caller, { by, ...changes });
  requireEventBytes(db.eventBytes, caller);
  const { name, mapping, properties, mergeProperties: patch } = changes;
  const target = { ...(await targetOf(db, caller, by)), author: caller.author };
  const fields = { name: name ?? undefined, mapping: mapping == null ? undefined : mappingText(mapping) };
  const updated =
    patch === undefined
      ? await db.writes.updateGroup(
          { ...target, ...fields, properties: properties == null ? properties : JSON.stringify(properties) },
          caller.share,
        )
      : await db.writes.patchGroup({ ...target, ...fields, revise: (stored) => merge(stored as Json, patch) }, caller.share);
  if (!updated) throw notFound();
  return updated;
}

/**
 * The group to write. A number, and an id in the caller's own environment, are looked up by the statement that writes. A token
 * and an id that may mean a group of any environment are looked up before.
 *
 * @throws NotFound.
 * @throws InvalidInput.
 */
async function targetOf(db: Db, caller: Caller, by: UserGroupBy): Promise<UserGroupTarget> {
  const { environmentTag, allEnvironments } = caller;
  if ('teamId' in by) return { teamId: by.teamId, providedId: null, environmentTag, allEnvironments };
  if ('providedId' in by && !allEnvironments) {
    return { teamId: null, providedId: by.providedId, environmentTag, allEnvironments };
  }
  const group = await locate(db, caller, by);
  if (!group) throw notFound();
  return { teamId: group.teamId, providedId: null, environmentTag, allEnvironments };
}

/** Applies a patch that is checked already. @throws InvalidInput when the result exceeds a limit. */
function merge(stored: Json, patch: Json): Json {
  const merged = applyMergePatch(stored, patch);
  checkMergedProperties(merged);
  return merged;
}
