import type { Context } from '../app.ts';
import { decryptToken, type KeyRing, MissingKey, type StoredToken } from '../encryption/keys.ts';
import { InvalidInput, type Issue, NotFound } from '../errors.ts';
import type { UserGroup } from '../generated/prisma/client.ts';
import { checkOf, newTextIssues, nullIssues, propertiesIssues, textIssues, type Unchecked } from '../input.ts';
import { mayBeUserGroupToken } from '../tokens.ts';
import { type GivenName, givenAttributes, maxVersion } from './attributes.ts';
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

/** A selector of one user group, not validated yet. */
export type UncheckedBy = Unchecked<'teamId' | 'providedId' | 'token'>;

/** The issues of a new group, of any type; lazy, so that checking stops as soon as enough issues are taken. */
export function* getOrCreateIssues(input: Unchecked<'providedId' | GivenName>): Generator<Issue> {
  yield* newTextIssues(['providedId'], input.providedId);
  yield* fieldIssues(input);
}

/** Checks the input of get-or-create. */
export const checkGetOrCreate = checkOf(getOrCreateIssues);

/** The most groups of one bulk call. */
export const maxBulkGroups = 1_000;

/** Checks how many groups a bulk call has. Each group is checked by {@link checkGetOrCreate}. @throws InvalidInput. */
export function checkBulkSize({ length }: readonly unknown[]): void {
  if (length >= 1 && length <= maxBulkGroups) return;
  throw new InvalidInput([{ path: ['groups'], message: `must have 1 to ${maxBulkGroups} groups.` }]);
}

/** An input that selects a group. */
interface Selecting {
  readonly by: UncheckedBy;
}

/** An input that may name the version that the group must have. */
type Expecting = Unchecked<'expectedVersion'>;

/** The input of an update. */
type UncheckedUpdate = Unchecked<GivenName | 'mergeProperties'> & Expecting & Selecting;

/** Checks the input of an update: the selector, the fields to change, and the expected version. */
export const checkUpdate = checkOf(function* ({ by, mergeProperties, ...change }: UncheckedUpdate) {
  yield* selectorIssues(by);
  if (mergeProperties !== undefined) yield* patchIssues(mergeProperties, change.properties);
  for (const [name, { nullable }] of givenAttributes) {
    if (!nullable) yield* nullIssues({ [name]: change[name] });
  }
  yield* fieldIssues(change);
  yield* versionIssues(change);
});

function* patchIssues(patch: unknown, properties: unknown): Generator<Issue> {
  const path = ['mergeProperties'];
  if (properties !== undefined) yield { path, message: 'must not be combined with properties; send one of them.' };
  if (patch === null) yield { path, message: 'must be a JSON object; to clear all properties, set properties to null.' };
  else yield* propertiesIssues(path, patch);
}

/** Checks properties that a merge patch resulted in. */
export const checkMergedProperties = checkOf((properties: unknown) =>
  propertiesIssues(['mergeProperties'], properties).map(({ path, message }) => ({ path, message: `after the merge ${message}` })),
);

/** Checks the input of a deletion, or a resumption. */
export const checkSelected = checkOf((input: Expecting & Selecting) => [...selectorIssues(input.by), ...versionIssues(input)]);

/** Checks the input of a suspension. */
export const checkSuspend = checkOf(({ reason, ...input }: Unchecked<'reason'> & Expecting & Selecting) => [
  ...selectorIssues(input.by),
  ...(reason == null ? [] : newTextIssues(['reason'], reason)),
  ...versionIssues(input),
]);

/** Checks the input of a change of environment. The environment must be given; `null` means untagged. */
export const checkSetEnvironment = checkOf(function* (input: Unchecked<'environmentTag'> & Expecting & Selecting) {
  yield* selectorIssues(input.by);
  if (input.environmentTag === undefined) yield { path: ['environmentTag'], message: 'is required; null means untagged.' };
  yield* versionIssues(input);
});

/** The longest grace period of a replaced token, in seconds: a week. */
export const maxGraceSeconds = 604_800;

/** Checks the input of a token rotation. */
export const checkRotate = checkOf(function* (
  input: Unchecked<'currentToken' | 'graceSeconds'> & { readonly by?: UncheckedBy | undefined } & Expecting,
) {
  const { currentToken, by, graceSeconds } = input;
  if (by && currentToken != null) yield { path: ['by'], message: 'must not be combined with currentToken; send one of them.' };
  if (by) yield* selectorIssues(by);
  else yield* textIssues(['currentToken'], currentToken);
  const isGracePeriod = Number.isInteger(graceSeconds) && Number(graceSeconds) >= 0 && Number(graceSeconds) <= maxGraceSeconds;
  if (graceSeconds != null && !isGracePeriod) {
    yield { path: ['graceSeconds'], message: `must be a whole number from 0 to ${maxGraceSeconds}.` };
  }
  yield* versionIssues(input);
});

function versionIssues({ expectedVersion }: Expecting): Issue[] {
  const version = Number(expectedVersion ?? 0);
  const isVersion = Number.isInteger(version) && version >= 0 && version <= maxVersion;
  return isVersion ? [] : [{ path: ['expectedVersion'], message: `must be a whole number from 0 to ${maxVersion}.` }];
}

/** The issues of a selector. */
export function selectorIssues(by: UncheckedBy): Issue[] {
  if ('providedId' in by) return textIssues(['by', 'providedId'], by.providedId);
  return 'token' in by ? textIssues(['by', 'token'], by.token) : [];
}

/** Checks a selector. */
const checkSelector = checkOf(selectorIssues);

function* fieldIssues(given: Unchecked<GivenName>): Generator<Issue> {
  for (const [name, { check }] of givenAttributes) if (given[name] != null) yield* check([name], given[name]);
}
