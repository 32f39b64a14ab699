import type { Database } from '../database/client.ts';
import type { Lookups } from '../database/queries/lookups.ts';
import type { UserGroupDraft } from '../database/queries/user-group-columns.ts';
import type { Writes } from '../database/queries/writes.ts';
import type { EnvironmentTag, UserGroup } from '../generated/prisma/client.ts';
import type { Caller } from './caller.ts';
import { Conflict, GatewayError, InvalidInput, NotFound } from './errors.ts';
import type { DataSourceMapping, Json } from './limits.ts';
import { issueToken, mayBeUserGroupToken } from './tokens.ts';
import { checkGetOrCreate, checkRotate, checkSelector } from './user-group-input.ts';

/** The database access of the domain: Prisma, and the queries of the hot path, whose look-ups may have a database of their own. */
export interface Db extends Pick<Database, 'prisma'> {
  readonly lookups: Lookups;
  readonly writes: Writes;
}

/** Selects one user group. */
export type UserGroupBy = { readonly teamId: number } | { readonly providedId: string } | { readonly token: string };

/** The fields of a group that a caller may set. On creation, `null` counts as omitted; on update, only `properties` may be `null`. */
export interface UserGroupFields {
  readonly name?: string | null | undefined;
  readonly mapping?: readonly DataSourceMapping[] | null | undefined;
  readonly properties?: Json | undefined;
}

/** The input of get-or-create. */
export interface NewUserGroup extends UserGroupFields {
  readonly providedId: string;
  /** The environment of the group, `null` for untagged; the caller's by default. */
  readonly environmentTag?: EnvironmentTag | null | undefined;
}

/** The result of get-or-create: the group as it is stored, and whether this call created it. */
export interface Creation {
  readonly userGroup: UserGroup;
  readonly created: boolean;
}

/** The error for a group that does not exist, or that the caller has no access to. */
export const notFound = (): NotFound => new NotFound('No such user group in the environment of this API token.');

/**
 * Finds the selected group; a group that the caller has no access to counts as not found.
 *
 * @throws Forbidden, synchronously, without `groups:resolve` for a look-up by token, and without `groups:read` otherwise.
 * @throws InvalidInput when an id or a token is malformed.
 */
export function findUserGroup(db: Db, caller: Caller, by: UserGroupBy): Promise<UserGroup | undefined> {
  caller.require('token' in by ? 'groups:resolve' : 'groups:read');
  return locate(db, caller, by);
}

/**
 * The current token of a group that the caller found. A caller with `groups:resolve` alone may have found the group by a
 * token in its grace period, and must not get its replacement.
 *
 * @throws Forbidden without `groups:read` or `groups:write`.
 */
export function currentTokenOf(caller: Caller, { token }: Pick<UserGroup, 'token'>): string {
  caller.require('groups:read', 'groups:write');
  return token;
}

/**
 * Returns the group with this id, or creates it if it does not exist. An existing group is returned unchanged, whatever other
 * fields are given. Of any number of concurrent calls, in any number of processes, exactly one creates it.
 *
 * @throws Forbidden without `groups:write`, or for an environment other than the caller's without `admin`.
 * @throws InvalidInput. @throws Conflict when a group of another environment, or an untagged one, holds the id.
 */
export async function getOrCreateUserGroup(db: Db, caller: Caller, input: NewUserGroup): Promise<Creation> {
  caller.require('groups:write');
  const environmentTag = caller.chooseEnvironment(input.environmentTag);
  checkGetOrCreate(caller, input);
  const { providedId } = input;

  const existing = ownAmong((await db.lookups.groupsByProvidedId(providedId, caller.share)) ?? [], {
    providedId,
    environmentTag,
  });
  if (existing) return { userGroup: existing, created: false };

  const draft = draftOf(input, environmentTag);
  for (let attempt = 1; attempt <= maxCreationAttempts; attempt += 1) {
    const stored = await db.writes.insertGroup(draft, caller.share);
    // Calls for one id that came together share one insertion: the group is of the call whose token it bears.
    if (stored) return { userGroup: stored, created: stored.token === draft.token };

    // Where it was to be inserted, so that the group that came first is there: the winner, or one that conflicts.
    const holders = (await db.writes.groupsHoldingId(providedId, caller.share)) ?? [];
    const winner = ownAmong(holders, { providedId, environmentTag });
    if (winner) return { userGroup: winner, created: false };
    // It was deleted since, or moved to another environment.
  }
  throw creationContended(providedId);
}

/** How often a creation begins again because the group that was in its way is gone. */
export const maxCreationAttempts = 5;

/** The error when groups with the id came and went during each attempt. */
export function creationContended(providedId: string): GatewayError {
  const cause = `User groups with the id ${JSON.stringify(providedId)} are being created and deleted at the same time.`;
  return new GatewayError('UNAVAILABLE', `${cause} This one was not created. It is safe to try again.`);
}

/** Whether two groups of these environments may have the same id: only if one is Customer and the other Testing. */
export function canShareId(a: EnvironmentTag | null, b: EnvironmentTag | null): boolean {
  return a !== null && b !== null && a !== b;
}

/**
 * The group of an environment among those that hold an id; undefined if it can be created.
 *
 * @throws Conflict when two groups that cannot share the id would.
 */
export function ownAmong(
  groups: readonly UserGroup[],
  { providedId, environmentTag }: Pick<UserGroup, 'providedId' | 'environmentTag'>,
): UserGroup | undefined {
  const own = groups.find((group) => group.environmentTag === environmentTag);
  if (!own && groups.some((group) => !canShareId(group.environmentTag, environmentTag)))
    throw idIsHeld(providedId, environmentTag);
  return own;
}

/** A new group as it is stored, with a new token. */
export function draftOf(
  { providedId, name, mapping, properties }: NewUserGroup,
  environmentTag: EnvironmentTag | null,
): UserGroupDraft {
  return {
    ...{ providedId, environmentTag, token: issueToken('userGroup'), name: name ?? providedId },
    properties: properties == null ? null : JSON.stringify(properties),
    mapping: mappingText(mapping ?? []),
  };
}

/** A mapping as it is stored: a JSON object. */
export const mappingText = (mapping: readonly DataSourceMapping[]): string =>
  JSON.stringify(Object.fromEntries(mapping.map(({ schemaId, dataSource }) => [schemaId, dataSource])));

/** The id is taken for groups of `environmentTag`: by an untagged group, or for an untagged one, by a group of any environment. */
function idIsHeld(providedId: string, environmentTag: EnvironmentTag | null): Conflict {
  const id = `The id ${JSON.stringify(providedId)}`;
  return new Conflict(
    environmentTag === null
      ? `${id} belongs to a Customer or Testing user group, and an untagged group cannot share its id. Use another id, or an ` +
          'API token of that environment.'
      : `${id} belongs to an untagged user group, which cannot share its id. Use another id, an API token without an environment, ` +
          'or label the untagged group as Customer or Testing: setUserGroupEnvironment over GraphQL, with the scope admin.',
  );
}

/** The input of a token rotation. */
export interface RotationInput {
  /** The token to replace. */
  readonly currentToken: string;
  /** How long it still identifies the group, in seconds: 0 (the default) to 604,800. */
  readonly graceSeconds?: number | null | undefined;
  /** Whether to end the grace periods of tokens that were replaced earlier; `false` by default. */
  readonly endGracePeriods?: boolean | null | undefined;
}

/**
 * Replaces the current token with a new one. Of concurrent rotations of one token exactly one succeeds. The old token stops
 * immediately, or identifies the group for another `graceSeconds`. Tokens that were replaced earlier keep their grace periods,
 * or with `endGracePeriods` stop immediately.
 *
 * @throws Forbidden without `groups:write`. @throws InvalidInput. @throws NotFound when it is no group's current token.
 */
export async function rotateUserGroupToken(
  db: Db,
  caller: Caller,
  input: RotationInput,
): Promise<{ userGroup: UserGroup; previousTokenExpiresAt: Date | null }> {
  checkRotate(caller, input);
  const { currentToken } = input;
  if (!mayBeUserGroupToken(currentToken)) throw notFound();

  const newToken = issueToken('userGroup');
  const { environmentTag, allEnvironments } = caller;
  const rotation = {
    ...{ currentToken, newToken, environmentTag, allEnvironments },
    ...{ graceSeconds: input.graceSeconds ?? 0, endGracePeriods: input.endGracePeriods ?? false },
  };
  const rotated = await db.writes.rotateToken(rotation, caller.share);
  if (!rotated) throw notFound();
  return rotated;
}

/**
 * Finds the group that is meant among those that the caller has access to, whatever its scopes. With `admin`, an id may mean two
 * groups: then it is refused.
 *
 * @throws InvalidInput.
 */
export async function locate({ lookups }: Db, caller: Caller, by: UserGroupBy): Promise<UserGroup | undefined> {
  checkSelector(by);
  if ('teamId' in by) return onlyVisible(caller, await lookups.groupByTeamId(by.teamId, caller.share));
  if ('token' in by) {
    return mayBeUserGroupToken(by.token) ? onlyVisible(caller, await lookups.groupByToken(by.token, caller.share)) : undefined;
  }
  const groups =
    (await lookups.groupsByProvidedId(by.providedId, caller.share))?.filter((group) => caller.canAccess(group)) ?? [];
  const own = groups.find(({ environmentTag }) => environmentTag === caller.environmentTag);
  if (own || groups.length < 2) return own ?? groups[0];
  throw new InvalidInput([
    { path: ['by', 'providedId'], message: 'matches both a Customer and a Testing group; select one by teamId.' },
  ]);
}

function onlyVisible(caller: Caller, group: UserGroup | undefined): UserGroup | undefined {
  return group && caller.canAccess(group) ? group : undefined;
}
