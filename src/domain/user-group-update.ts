import type { UserGroupTarget } from '../database/queries/user-group-targets.ts';
import type { UserGroup } from '../generated/prisma/client.ts';
import type { Caller } from './caller.ts';
import { InvalidInput } from './errors.ts';
import { type Json, printableIssues } from './limits.ts';
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
 * @throws InvalidInput, also when the properties would exceed a limit after the merge, and for control characters in a name that
 *   is not the stored one.
 */
export async function updateUserGroup(db: Db, caller: Caller, by: UserGroupBy, changes: UserGroupChanges): Promise<UserGroup> {
  checkUpdate(caller, { by, ...changes });
  const { mapping, properties, mergeProperties: patch } = changes;
  const name = await newNameOf(db, caller, by, changes.name ?? undefined);
  const target = { ...(await targetOf(db, caller, by)), author: caller.author };
  const fields = { name, mapping: mapping == null ? undefined : mappingText(mapping) };
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
 * The name to write. One with control characters is not written; it may be given where the group has it, as clients do that send
 * all fields.
 *
 * @throws InvalidInput for one that the group does not have.
 */
async function newNameOf(db: Db, caller: Caller, by: UserGroupBy, name: string | undefined): Promise<string | undefined> {
  const issues = name === undefined ? [] : printableIssues(['name'], name);
  if (issues.length === 0) return name;
  const group = await locate(db, caller, by);
  if (group && group.name !== name) throw new InvalidInput(issues);
  return undefined;
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
