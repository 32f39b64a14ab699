import type { Context } from '../app.ts';
import { decryptToken, type KeyRing, MissingKey, type StoredToken } from '../encryption/keys.ts';
import { InvalidInput, NotFound } from '../errors.ts';
import type { UserGroup } from '../generated/prisma/client.ts';
import { mayBeUserGroupToken } from '../tokens.ts';
import { checkSelector } from './rules.ts';
import type { GroupOfToken } from './sql.ts';

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

/**
 * Finds the selected group; a group that the caller has no access to counts as not found.
 *
 * @throws Forbidden, synchronously, without `groups:resolve` for a look-up by token, and without `groups:read` otherwise.
 * @throws InvalidInput when an id or a token is malformed.
 */
export function findUserGroup(context: Context, by: UserGroupBy): Promise<UserGroup | undefined> {
  context.caller.require('token' in by ? 'groups:resolve' : 'groups:read');
  return locate(context, by);
}

/**
 * The current token of a group that the caller found. A caller with `groups:resolve` alone may have found the group by a token in
 * its grace period, and must not get its replacement.
 *
 * @throws Forbidden without `groups:read` or `groups:write`.
 * @throws DecryptionError when the key is missing or the row was changed.
 */
export function currentTokenOf({ app, caller }: Context, group: StoredToken): string {
  caller.require('groups:read', 'groups:write');
  return decryptToken(app.keys, 'user_group', group);
}

/**
 * Finds the group that is meant among those that the caller has access to, whatever its scopes. With `admin`, an id may mean two
 * groups: then it is refused.
 *
 * @throws InvalidInput.
 */
export async function locate(context: Context, by: UserGroupBy): Promise<UserGroup | undefined> {
  const { caller, reads } = context;
  if ('token' in by) {
    const found = await findGroupOfToken(context, by.token);
    if (!found) checkSelector(by); // what may be a token has no issues
    return onlyVisible(context, found?.userGroup);
  }
  checkSelector(by);
  if ('teamId' in by) return onlyVisible(context, await reads.groupByTeamId(by.teamId));
  const groups = (await reads.groupsByProvidedId(by.providedId))?.filter((group) => caller.canAccess(group)) ?? [];
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
 * @throws MissingKey while tokens are stored under a key that this process lacks.
 */
export async function findGroupOfToken(context: Context, token: string): Promise<GroupOfToken | undefined> {
  if (!mayBeUserGroupToken(token)) return undefined;
  const { app, caller, reads } = context;
  requireEveryKey(context);
  const found = await withLatestKeys(app.keys, () => reads.groupOfToken(app.keys.hashes(token)));
  if (found && caller.canAccess(found.userGroup) && isDue(found.userGroup)) app.noteResolved(found.userGroup.teamId);
  return found;
}

/** Whether the time when a group was last resolved is to be written again. */
const isDue = ({ lastResolvedAt }: UserGroup): boolean =>
  lastResolvedAt === null || lastResolvedAt.getTime() + hourMs <= Date.now();

const hourMs = 3_600_000;

/** Looks for a token, once more if there are other keys by then: it may have been encrypted with one of them. */
export async function withLatestKeys<Found>(keys: KeyRing, find: () => Promise<Found | undefined>): Promise<Found | undefined> {
  const before = keys.ids.join();
  const found = await find();
  if (found) return found;
  keys.refresh();
  return keys.ids.join() === before ? undefined : find();
}

/** A token may be stored under a key that this process lacks: nothing can be said about it. @throws MissingKey. */
export function requireEveryKey({ app: { keys } }: Context): void {
  if (keys.missing !== undefined) throw new MissingKey('user_group.token_hash', keys.missing, { isUnchanged: true });
}

function onlyVisible({ caller }: Context, group: UserGroup | undefined): UserGroup | undefined {
  return group && caller.canAccess(group) ? group : undefined;
}
