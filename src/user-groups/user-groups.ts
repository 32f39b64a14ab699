import type { Feed } from '../audit-log/feed.ts';
import type { Caller } from '../caller.ts';
import type { Database } from '../database/client.ts';
import type { Db } from '../db.ts';
import type { EmbedTokenIssuer } from '../embed-tokens/signing-keys.ts';
import { type KeyRing, MissingKey } from '../encryption/keys.ts';
import { decryptToken, type StoredToken } from '../encryption/stored-token.ts';
import { InvalidInput, NotFound } from '../errors.ts';
import type { UserGroup } from '../generated/prisma/client.ts';
import { mayBeUserGroupToken } from '../tokens.ts';
import type { LastResolved } from './last-resolved.ts';
import { checkSelector } from './rules.ts';
import type { GroupOfToken } from './statements/look-up.ts';

/**
 * What the domain works with: the database, the keys that user group tokens are stored with, and what embed tokens are signed
 * with.
 */
export interface Services {
  readonly db: Db;
  /** Statements by hand, where `db` runs. */
  readonly sql: Pick<Database, 'query' | 'transaction'>;
  readonly keys: KeyRing;
  readonly embedTokens: EmbedTokenIssuer;
  /** The private networks that webhooks may reach, as CIDRs. */
  readonly webhookNetworks: readonly string[];
  /** When groups were last resolved by their tokens. */
  readonly lastResolved: Pick<LastResolved, 'note'>;
  readonly feed: Feed;
}

/**
 * Selects one user group. With `admin`, an id may lead to a group of another environment; with `staysInEnvironment`, a change
 * does not lead from Customer to Testing or back: a deletion that an HTTP client repeats would be one in each.
 */
export type UserGroupBy =
  | { readonly teamId: number }
  | { readonly providedId: string; readonly staysInEnvironment?: true }
  | { readonly token: string };

/** The error for a group that does not exist, or that the caller has no access to. */
export const notFound = (): NotFound => new NotFound('No such user group in the environment of this API token.');

/** What is read of groups. */
export interface ReadOptions {
  /** Whether properties and mappings are read, as by default; without them, taking them from a group throws. */
  readonly withJson?: boolean | undefined;
}

/**
 * Finds the selected group; a group that the caller has no access to counts as not found.
 *
 * @param options considered by a look-up by number, which may be one of many.
 * @throws Forbidden, synchronously, without `groups:resolve` for a look-up by token, and without `groups:read` otherwise.
 * @throws InvalidInput when an id or a token is malformed.
 */
export function findUserGroup(
  services: Services,
  caller: Caller,
  by: UserGroupBy,
  options: ReadOptions = {},
): Promise<UserGroup | undefined> {
  caller.require('token' in by ? 'groups:resolve' : 'groups:read');
  return locate(services, caller, by, options);
}

/** The group with this number, also when the caller has no access to it. */
export function lookUpGroup(
  { db }: Pick<Services, 'db'>,
  teamId: number,
  { withJson = true }: ReadOptions,
): Promise<UserGroup | undefined> {
  return withJson ? db.userGroup.findByTeamId(teamId) : db.userGroup.findSummaryByTeamId(teamId);
}

/** Where a group carries its current token, once it is known. A symbol, so that nothing prints it. */
const knownToken = Symbol('current token');

interface WithKnownToken {
  [knownToken]?: string;
}

/** The same group with `token` as its current token. Requests may share it. */
export function withToken(group: UserGroup & WithKnownToken, token: string): UserGroup {
  group[knownToken] = token;
  return group;
}

/**
 * The current token of a group that the caller found; decrypted here, once, unless the caller found or made the group by it. A
 * caller with `groups:resolve` alone may have found the group by a token in its grace period, and must not get its replacement.
 *
 * @throws Forbidden without `groups:read` or `groups:write`.
 * @throws DecryptionError when the key is missing or the row was changed.
 */
export function currentTokenOf({ keys }: Pick<Services, 'keys'>, caller: Caller, group: StoredToken & WithKnownToken): string {
  caller.require('groups:read', 'groups:write');
  group[knownToken] ??= decryptToken(keys, 'user_group', group);
  return group[knownToken];
}

/**
 * Finds the group that is meant among those that the caller has access to, whatever its scopes. With `admin`, an id may mean two
 * groups: then it is refused.
 *
 * @throws InvalidInput.
 */
export async function locate(
  services: Services,
  caller: Caller,
  by: UserGroupBy,
  options: ReadOptions = {},
): Promise<UserGroup | undefined> {
  if ('token' in by) {
    const found = await findGroupOfToken(services, caller, by.token);
    if (!found) checkSelector(by); // what may be a token has no issues
    return onlyVisible(caller, found?.isCurrent ? withToken(found.userGroup, by.token) : found?.userGroup);
  }
  checkSelector(by);
  if ('teamId' in by) return onlyVisible(caller, await lookUpGroup(services, by.teamId, options));
  const groups = (await services.db.userGroup.findByProvidedId(by.providedId))?.filter((group) => caller.canAccess(group)) ?? [];
  const own = groups.find(({ environmentTag }) => environmentTag === caller.environmentTag);
  if (own || groups.length < 2) return own ?? groups[0];
  throw new InvalidInput([
    { path: ['by', 'providedId'], message: 'matches both a Customer and a Testing group; select one by teamId.' },
  ]);
}

/**
 * The group of any environment that a user group token identifies, and records that it was resolved. Requires no scope: the
 * caller of this function does.
 *
 * @throws MissingKey when there is none, and tokens are stored under a key that this process lacks: it may be one of them.
 */
export async function findGroupOfToken(services: Services, caller: Caller, token: string): Promise<GroupOfToken | undefined> {
  if (!mayBeUserGroupToken(token)) return undefined;
  const { db, keys } = services;
  for (let before: readonly string[] | undefined; ; ) {
    const hashes = keys.hashes(token);
    const found = await db.userGroup.findByTokenHash(hashes);
    if (found) {
      if (caller.canAccess(found.userGroup)) services.lastResolved.note(found.userGroup);
      return found;
    }
    if (before && hashes.every((hash) => before?.includes(hash))) return undefined;
    // Then once more: a gateway that has the missing key may have stored it under one of these meanwhile, or one was read here.
    await requireKeysOfTokens(services);
    before = hashes;
  }
}

/**
 * Checks that a token which was not found identifies no group. Nothing is changed before.
 *
 * @throws MissingKey when a token that still identifies a group has a hash of a key that this process lacks: it may be that one.
 */
export async function requireKeysOfTokens({ db, keys }: Services): Promise<void> {
  const missing = (await db.userGroup.keyIdsOfTokens('all'))?.filter((id) => !keys.has(id)) ?? [];
  for (const id of missing) {
    if (await db.userGroup.hasLiveTokens(id)) throw new MissingKey('user_group.token_hash', id, { isUnchanged: true });
  }
}

function onlyVisible(caller: Caller, group: UserGroup | undefined): UserGroup | undefined {
  return group && caller.canAccess(group) ? group : undefined;
}
