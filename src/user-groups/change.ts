import { type Context, inTransaction } from '../app.ts';
import { isUniqueViolation } from '../database/errors.ts';
import { decryptToken, encryptToken } from '../encryption/stored-token.ts';
import { Conflict, NotFound, VersionMismatch } from '../errors.ts';
import type { EnvironmentTag, Prisma, UserGroup } from '../generated/prisma/client.ts';
import type { Json } from '../input.ts';
import { applyMergePatch } from '../json.ts';
import { issueToken, mayBeUserGroupToken } from '../tokens.ts';
import { changedValues, type UserGroupFields } from './attribute-values.ts';
import { checkMergedProperties, checkRotate, checkSelected, checkSetEnvironment, checkSuspend, checkUpdate } from './rules.ts';
import { type GroupTarget, lockGroup, type Rotated, rotateToken, updateGroup } from './sql.ts';
import { locate, notFound, requireEveryKey, type UserGroupBy, withLatestKeys } from './user-groups.ts';

/**
 * Finds the group that one call is to change, as {@link locate} does.
 *
 * @throws NotFound also where {@link UserGroupBy} permits no group of the other environment.
 * @throws InvalidInput.
 */
export async function locateToChange(context: Context, by: UserGroupBy): Promise<UserGroup> {
  const group = await locate(context, by);
  if (!group) throw notFound();
  const [own, found] = [context.caller.environmentTag, group.environmentTag];
  if ('staysInEnvironment' in by && own && found && own !== found) {
    throw new NotFound(
      `No user group of ${own}, the environment of this API token, has this id. One of ${found} has: use an API token of that ` +
        'environment, or select the group over GraphQL by its id or teamId.',
    );
  }
  return group;
}

/** What the write of a group takes, which checks the access to it once more. @throws NotFound. @throws InvalidInput. */
async function targetOf(context: Context, by: UserGroupBy): Promise<GroupTarget> {
  const { teamId } = await locateToChange(context, by);
  const { environmentTag, allEnvironments } = context.caller;
  return { teamId, environmentTag, allEnvironments };
}

/** Why a write found no group. @throws NotFound, also when it was deleted, or moved meanwhile. @throws VersionMismatch. */
async function refuse(context: Context, by: UserGroupBy, expectedVersion: number | null | undefined): Promise<never> {
  const current = await locateToChange(context, by);
  throw expectedVersion == null ? notFound() : new VersionMismatch(current);
}

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
 * @throws InvalidInput, also when the properties would exceed a limit after the merge.
 */
export async function updateUserGroup(context: Context, by: UserGroupBy, changes: UserGroupChanges): Promise<UserGroup> {
  const { caller } = context;
  caller.require('groups:write');
  checkUpdate({ by, ...changes });
  const { mergeProperties, expectedVersion, ...given } = changes;
  const target = await targetOf(context, by);
  const change = changedValues(given);
  const updated =
    mergeProperties === undefined
      ? await updateGroup(context.sql, caller.author, target, change, expectedVersion)
      : await inTransaction(context, async ({ sql }) => {
          const locked = await lockGroup(sql, target);
          if (!locked || locked.version !== (expectedVersion ?? locked.version)) return undefined;
          const properties = JSON.stringify(merge(locked.properties as Json, mergeProperties));
          return updateGroup(sql, caller.author, target, { ...change, properties }, expectedVersion);
        });
  return updated ?? refuse(context, by, expectedVersion);
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
  context: Context,
  by: UserGroupBy,
  data: Prisma.UserGroupUpdateManyMutationInput,
  expectedVersion: number | null | undefined,
): Promise<UserGroup> {
  const where = whereOf(await targetOf(context, by), expectedVersion);
  const [changed] = await inTransaction(context, ({ db }) => db.userGroup.updateManyAndReturn({ where, data }));
  return changed ?? refuse(context, by, expectedVersion);
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
export async function deleteUserGroup(context: Context, by: UserGroupBy, expectedVersion?: number | null): Promise<number> {
  context.caller.require('groups:write');
  checkSelected({ by, expectedVersion });
  const selected = 'providedId' in by ? { ...by, staysInEnvironment: true as const } : by;
  const target = await targetOf(context, selected);
  const where = whereOf(target, expectedVersion);
  const { count } = await inTransaction(context, ({ db }) => db.userGroup.deleteMany({ where }));
  return count > 0 ? target.teamId : refuse(context, selected, expectedVersion);
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
  context: Context,
  by: UserGroupBy,
  environmentTag: EnvironmentTag | null | undefined,
  expectedVersion?: number | null,
): Promise<UserGroup> {
  context.caller.require('admin');
  checkSetEnvironment({ by, environmentTag, expectedVersion });
  const group = await locateToChange(context, by);
  const wanted = environmentTag ?? null;
  try {
    return await change(context, { teamId: group.teamId }, { environmentTag: wanted }, expectedVersion);
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
  context: Context,
  by: UserGroupBy,
  reason?: string | null,
  expectedVersion?: number | null,
): Promise<UserGroup> {
  context.caller.require('groups:write');
  checkSuspend({ by, reason, expectedVersion });
  return change(context, by, { suspended: true, suspendedReason: reason ?? null }, expectedVersion);
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
export async function resumeUserGroup(context: Context, by: UserGroupBy, expectedVersion?: number | null): Promise<UserGroup> {
  context.caller.require('groups:write');
  checkSelected({ by, expectedVersion });
  return change(context, by, { suspended: false, suspendedReason: null }, expectedVersion);
}

/** The input of a token rotation: exactly one of `currentToken` and `by`. */
export interface RotationInput {
  /** The token to replace. */
  readonly currentToken?: string | null | undefined;
  /** The group whose token to replace, whichever it is. */
  readonly by?: UserGroupBy | undefined;
  /** How long it still identifies the group, in seconds: 0 (the default) to 604,800. */
  readonly graceSeconds?: number | null | undefined;
  /** Whether to end the grace periods of tokens that were replaced earlier; `false` by default. */
  readonly endGracePeriods?: boolean | null | undefined;
  /** The version that the group must have; none permits any. */
  readonly expectedVersion?: number | null | undefined;
}

/**
 * Replaces the current token with a new one. Of concurrent rotations of one token exactly one succeeds; with `by`, each does. The
 * old token stops immediately, or identifies the group for another `graceSeconds`. Tokens that were replaced earlier keep their
 * grace periods, or with `endGracePeriods` stop immediately.
 *
 * @throws Forbidden without `groups:write`.
 * @throws InvalidInput.
 * @throws NotFound when no group has the token as its current one, or there is no such group.
 * @throws MissingKey while tokens are stored under a key that this process lacks.
 * @throws VersionMismatch when the group has another version.
 */
export async function rotateUserGroupToken(context: Context, input: RotationInput): Promise<Rotated> {
  context.caller.require('groups:write');
  checkRotate(input);
  const { currentToken, by } = input;
  return by ? rotateTokenOf(context, by, input) : rotateCurrentToken(context, currentToken as string, input);
}

async function rotateCurrentToken(context: Context, currentToken: string, input: RotationInput): Promise<Rotated> {
  if (!mayBeUserGroupToken(currentToken)) throw notFound();
  requireEveryKey(context);
  const { app, caller, db } = context;
  const rotated = await withLatestKeys(app.keys, () => rotateStored(context, currentToken, input));
  if (rotated) return rotated;
  if (input.expectedVersion == null) throw notFound();
  const hashes = app.keys.hashes(currentToken).map((hash) => Buffer.from(hash, 'hex'));
  const current = await db.userGroup.findFirst({ where: { tokenHash: { in: hashes } } });
  throw current && caller.canAccess(current) ? new VersionMismatch(current) : notFound();
}

/** Locks the group, so that its token is the one that is replaced. */
async function rotateTokenOf(context: Context, by: UserGroupBy, input: RotationInput): Promise<Rotated> {
  const target = await targetOf(context, by);
  const rotated = await inTransaction(context, async (inner) => {
    const group = await lockGroup(inner.sql, target);
    if (!group) return undefined;
    const currentToken = input.graceSeconds ? decryptToken(inner.app.keys, 'user_group', group) : '';
    return rotateStored(inner, currentToken, input, [Buffer.from(group.tokenHash).toString('hex')]);
  });
  return rotated ?? refuse(context, by, input.expectedVersion);
}

async function rotateStored(
  { app: { keys }, caller: { author, environmentTag, allEnvironments }, sql }: Context,
  currentToken: string,
  input: RotationInput,
  currentHashes = keys.hashes(currentToken),
): Promise<Rotated | undefined> {
  const graceSeconds = input.graceSeconds ?? 0;
  return rotateToken(sql, author, {
    currentHashes,
    retired: graceSeconds > 0 ? encryptToken(keys, 'retired_token', currentToken) : undefined,
    replacement: encryptToken(keys, 'user_group', issueToken('userGroup')),
    environmentTag,
    allEnvironments,
    graceSeconds,
    endGracePeriods: input.endGracePeriods ?? false,
    expectedVersion: input.expectedVersion,
  });
}
