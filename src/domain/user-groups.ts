import type { Database } from '../database/client.ts';
import type { Lookups } from '../database/queries/lookups.ts';
import type { GroupOfToken } from '../database/queries/user-group-lookups.ts';
import type { Writes } from '../database/queries/writes.ts';
import type { EnvironmentTag, UserGroup } from '../generated/prisma/client.ts';
import type { Caller } from './caller.ts';
import { Conflict, InvalidInput, NotFound } from './errors.ts';
import type { KeyRing } from './keys.ts';
import type { DataSourceMapping, Json } from './limits.ts';
import type { EmbedTokenIssuer } from './signing-keys.ts';
import { issueToken, mayBeUserGroupToken } from './tokens.ts';
import { checkGetOrCreate, checkRotate, checkSelector, checkUpdate } from './user-group-input.ts';
import { decryptToken, encryptToken, type StoredToken } from './user-group-tokens.ts';

/**
 * The database access of the domain: Prisma, the queries of the hot path, whose look-ups may have a database of their own, the
 * keys that user group tokens are stored with, and what embed tokens are signed with.
 */
export interface Db extends Pick<Database, 'prisma'> {
  readonly lookups: Lookups;
  readonly writes: Writes;
  readonly keys: KeyRing;
  readonly embedTokens: EmbedTokenIssuer;
}

/** Selects one user group. */
export type UserGroupBy = { readonly teamId: number } | { readonly providedId: string } | { readonly token: string };

/** The fields of a group that a caller may set. On creation, `null` counts as omitted; on update, only `properties` may be `null`. */
export interface UserGroupFields {
  readonly name?: string | null | undefined;
  readonly mapping?: readonly DataSourceMapping[] | null | undefined;
  readonly properties?: Json | undefined;
}

/** The error for a group that does not exist, or that the caller has no access to. */
export const notFound = () => new NotFound('No such user group in the environment of this API token.');

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

/** Where a group carries its current token, once it is known without decryption. A symbol, so that nothing prints it. */
const knownToken = Symbol('current token');

interface WithKnownToken {
  [knownToken]?: string;
}

/** The same group, of which `token` is the current token. It may be shared by requests: all of them know the same. */
function withToken(group: UserGroup & WithKnownToken, token: string): UserGroup {
  group[knownToken] = token;
  return group;
}

/**
 * The current token of a group that the caller found; decrypted here, unless the caller found or made the group by it. A caller
 * with `groups:resolve` alone may have found the group by a token in its grace period, and must not get its replacement.
 *
 * @throws Forbidden without `groups:read` or `groups:write`. @throws DecryptionError when the key is missing or the row was changed.
 */
export function currentTokenOf({ keys }: Pick<Db, 'keys'>, caller: Caller, group: StoredToken & WithKnownToken): string {
  caller.require('groups:read', 'groups:write');
  return group[knownToken] ?? decryptToken(keys, 'user_group', group);
}

/**
 * Returns the group with this id, or creates it if it does not exist. An existing group is returned unchanged, whatever other
 * fields are given. Of any number of concurrent calls, in any number of processes, exactly one creates it.
 *
 * @param input `environmentTag` is the group's environment, `null` for untagged; it defaults to the caller's.
 * @throws Forbidden without `groups:write`, or for an environment other than the caller's without `admin`.
 * @throws InvalidInput. @throws Conflict when a group of another environment, or an untagged one, holds the id.
 */
export async function getOrCreateUserGroup(
  db: Db,
  caller: Caller,
  input: UserGroupFields & { readonly providedId: string; readonly environmentTag?: EnvironmentTag | null | undefined },
): Promise<{ userGroup: UserGroup; created: boolean }> {
  caller.require('groups:write');
  const environmentTag = caller.chooseEnvironment(input.environmentTag);
  checkGetOrCreate(caller, input);
  const { providedId, name, mapping, properties } = input;

  const ownOf = (groups: readonly UserGroup[] = []) => {
    const own = groups.find((group) => group.environmentTag === environmentTag);
    // Two groups share an id only if one is Customer and the other Testing.
    if (!own && groups.some((group) => group.environmentTag === null || environmentTag === null))
      throw idIsHeld(providedId, environmentTag);
    return own;
  };

  const existing = ownOf(await db.lookups.groupsByProvidedId(providedId, caller.share));
  if (existing) return { userGroup: existing, created: false };

  const token = issueToken('userGroup');
  const stored = encryptToken(db.keys, 'user_group', token);
  const draft = {
    ...{ providedId, environmentTag, ...stored, name: name ?? providedId },
    properties: properties == null ? null : JSON.stringify(properties),
    mapping: JSON.stringify(asObject(mapping ?? [])),
  };
  const inserted = await db.writes.insertGroup(draft, caller.share);
  // Calls for one id that came together share one insertion: the group is of the call whose token it bears.
  const created = inserted !== undefined && stored.tokenHash.equals(inserted.tokenHash);
  if (inserted) return { userGroup: created ? withToken(inserted, token) : inserted, created };

  // Where it was to be inserted, so that the group that came first is there: the winner, or one that conflicts.
  const winner = ownOf(await db.writes.groupsHoldingId(providedId, caller.share));
  if (winner) return { userGroup: winner, created: false };
  throw idIsHeld(providedId, environmentTag);
}

/** The id is taken for groups of `environmentTag`: by an untagged group, or for an untagged one, by a group of any environment. */
function idIsHeld(providedId: string, environmentTag: EnvironmentTag | null): Conflict {
  const id = `The id ${JSON.stringify(providedId)}`;
  return new Conflict(
    environmentTag === null
      ? `${id} belongs to a Customer or Testing user group, and an untagged group cannot share its id. Use another id, or an ` +
          'API token of that environment.'
      : `${id} belongs to an untagged user group, which cannot share its id. Use another id, an API token without an environment, ` +
          'or ask the operator to label the untagged group as Customer or Testing (column environment_tag of table user_group).',
  );
}

/**
 * Changes the fields that are given; mapping and properties are replaced whole, and `properties: null` clears them.
 *
 * @throws Forbidden without `groups:write`. @throws InvalidInput. @throws NotFound.
 */
export async function updateUserGroup(db: Db, caller: Caller, by: UserGroupBy, change: UserGroupFields): Promise<UserGroup> {
  checkUpdate(caller, { by, ...change });
  const { name, mapping, properties } = change;
  const group = await locate(db, caller, by);
  if (!group) throw notFound();
  const { environmentTag, allEnvironments } = caller;
  const updated = await db.writes.updateGroup({
    ...{ teamId: group.teamId, environmentTag, allEnvironments, name: name ?? undefined },
    mapping: mapping == null ? undefined : JSON.stringify(asObject(mapping)),
    properties: properties == null ? properties : JSON.stringify(properties),
  });
  if (!updated) throw notFound();
  return updated;
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
  const graceSeconds = input.graceSeconds ?? 0;
  const { environmentTag, allEnvironments } = caller;
  const rotate = () =>
    db.writes.rotateToken(
      {
        currentHashes: db.keys.hashes(currentToken),
        retired: graceSeconds > 0 ? encryptToken(db.keys, 'retired_token', currentToken) : undefined,
        replacement: encryptToken(db.keys, 'user_group', newToken),
        ...{ environmentTag, allEnvironments, graceSeconds, endGracePeriods: input.endGracePeriods ?? false },
      },
      caller.share,
    );
  // Again where keys are being rotated: the row may have got its hash under another key while the statement waited for it.
  const rotated = (await rotate()) ?? (db.keys.refresh() || db.keys.ids.length > 1 ? await rotate() : undefined);
  if (!rotated) throw notFound();
  return { ...rotated, userGroup: withToken(rotated.userGroup, newToken) };
}

/**
 * Finds the group that is meant among those that the caller sees. With `admin`, an id may mean two groups: then it is refused.
 * Requires no scope: the caller of this function does.
 */
export async function locate(db: Db, caller: Caller, by: UserGroupBy): Promise<UserGroup | undefined> {
  const { lookups } = db;
  checkSelector(by);
  if ('teamId' in by) return onlyVisible(caller, await lookups.groupByTeamId(by.teamId, caller.share));
  if ('token' in by) return onlyVisible(caller, await locateByToken(db, caller, by.token));
  const groups =
    (await lookups.groupsByProvidedId(by.providedId, caller.share))?.filter((group) => caller.canAccess(group)) ?? [];
  const own = groups.find(({ environmentTag }) => environmentTag === caller.environmentTag);
  if (own || groups.length < 2) return own ?? groups[0];
  throw new InvalidInput([
    { path: ['by', 'providedId'], message: 'matches both a Customer and a Testing group; select one by teamId.' },
  ]);
}

/** The group of any environment that a user group token identifies. Requires no scope: the caller of this function does. */
export async function findGroupOfToken({ lookups, keys }: Db, caller: Caller, token: string): Promise<GroupOfToken | undefined> {
  if (!mayBeUserGroupToken(token)) return undefined;
  const find = () => lookups.groupByTokenHash(keys.hashes(token), caller.share);
  // Again if a key was added since: rows may use it already.
  return (await find()) ?? (keys.refresh() ? await find() : undefined);
}

async function locateByToken(db: Db, caller: Caller, token: string): Promise<UserGroup | undefined> {
  const found = await findGroupOfToken(db, caller, token);
  return found?.isCurrent ? withToken(found.userGroup, token) : found?.userGroup;
}

function onlyVisible(caller: Caller, group: UserGroup | undefined): UserGroup | undefined {
  return group && caller.canAccess(group) ? group : undefined;
}

const asObject = (mapping: readonly DataSourceMapping[]): Record<string, string> =>
  Object.fromEntries(mapping.map(({ schemaId, dataSource }) => [schemaId, dataSource]));
