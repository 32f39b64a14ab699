import type { Context } from '../app.ts';
import { encryptToken, type KeyRing } from '../encryption/keys.ts';
import { Conflict, GatewayError } from '../errors.ts';
import type { EnvironmentTag, UserGroup } from '../generated/prisma/client.ts';
import { issueToken } from '../tokens.ts';
import { initialValues, type UserGroupFields } from './attributes.ts';
import { findGroupsByProvidedId, insertGroups, type UserGroupDraft } from './sql.ts';
import { checkBulkSize, checkGetOrCreate } from './user-groups.ts';

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

/**
 * Returns the group with this id, or creates it if it does not exist. The input is checked first, whatever its types are. An
 * existing group is returned unchanged, whatever other fields are given. Of any number of concurrent calls, in any number of
 * processes, exactly one creates it.
 *
 * @throws Forbidden without `groups:write`, or for an environment other than the caller's without `admin`.
 * @throws InvalidInput.
 * @throws Conflict when a group of another environment, or an untagged one, holds the id.
 * @throws GatewayError `UNAVAILABLE` when groups with the id come and go during each attempt.
 */
export async function getOrCreateUserGroup(context: Context, input: NewUserGroup): Promise<Creation> {
  const { caller, reads } = context;
  caller.require('groups:write');
  const environmentTag = caller.chooseEnvironment(input.environmentTag);
  checkGetOrCreate(input);
  const holders = (await reads.groupsByProvidedId(input.providedId)) ?? [];
  const existing = ownAmong(holders, input.providedId, environmentTag);
  if (existing) return { userGroup: existing, created: false };
  const [outcome] = await createMissing(context, [{ input, environmentTag }], new Map(), true);
  if (outcome instanceof GatewayError) throw outcome;
  return outcome as Creation;
}

/**
 * Does for each input what {@link getOrCreateUserGroup} does, one after another, in a number of statements that does not depend
 * on how many there are.
 *
 * @param withJson whether properties and mappings of existing groups are read; without it they are undefined.
 * @returns for each input, in order, what that function returns or throws: a failure of one does not affect the others.
 * @throws Forbidden without `groups:write`.
 * @throws InvalidInput for none, or more than 1,000.
 * @throws GatewayError `UNAVAILABLE` when groups with one of the ids come and go during each attempt.
 */
export async function getOrCreateUserGroups(
  context: Context,
  inputs: readonly NewUserGroup[],
  withJson: boolean,
): Promise<(Creation | GatewayError)[]> {
  const { caller } = context;
  caller.require('groups:write');
  checkBulkSize(inputs);
  const checked = inputs.map((input) =>
    outcomeOf((): Wanted => {
      const environmentTag = caller.chooseEnvironment(input.environmentTag);
      checkGetOrCreate(input);
      return { input, environmentTag };
    }),
  );
  const wanted = checked.filter((each): each is Wanted => !(each instanceof GatewayError));
  if (wanted.length === 0) return checked as GatewayError[];
  const stored = await findHolders(context, idsOf(wanted), withJson);
  const outcomes = await createMissing(context, wanted, stored, withJson);
  return checked.map((each) => (each instanceof GatewayError ? each : (outcomes.shift() as Creation | GatewayError)));
}

/** A group that is to exist, every rule checked. */
interface Wanted {
  readonly input: NewUserGroup;
  readonly environmentTag: EnvironmentTag | null;
}

/** How often a creation begins again because the group that was in its way is gone. */
const maxAttempts = 5;

/**
 * Returns the groups among those that are stored, and creates the others: in a round the first one of each id.
 *
 * @param holders the groups that hold the ids, as far as they were read.
 * @returns the outcome of each, in order.
 */
async function createMissing(
  context: Context,
  wanted: readonly Wanted[],
  holders: Map<string, readonly UserGroup[]>,
  withJson: boolean,
): Promise<(Creation | GatewayError)[]> {
  const { app, caller, sql } = context;
  const outcomes = new Map<Wanted, Creation | GatewayError>();
  for (let attempt = 1; attempt <= maxAttempts; ) {
    const next = new Map<string, Wanted>();
    for (const each of wanted) {
      if (outcomes.has(each)) continue;
      const { providedId } = each.input;
      const own = outcomeOf(() => ownAmong(holders.get(providedId) ?? [], providedId, each.environmentTag));
      if (own instanceof GatewayError) outcomes.set(each, own);
      else if (own) outcomes.set(each, { userGroup: own, created: false });
      else if (!next.has(providedId)) next.set(providedId, each);
    }
    if (outcomes.size === wanted.length) return wanted.map((each) => outcomes.get(each) as Creation | GatewayError);
    const drafts = Array.from(next.values(), (each) => draftOf(app.keys, each));
    drafts.sort((a, b) => (a.providedId < b.providedId ? -1 : 1)); // to prevent deadlocks
    for (const userGroup of await insertGroups(sql, caller.author, drafts)) {
      const { providedId } = userGroup;
      holders.set(providedId, [...(holders.get(providedId) ?? []), userGroup]);
      outcomes.set(next.get(providedId) as Wanted, { userGroup, created: true });
      next.delete(providedId);
    }
    if (next.size === 0) continue;
    // Others hold these ids, or did.
    for (const [id, found] of await findHolders(context, [...next.keys()], withJson)) holders.set(id, found);
    attempt += 1;
  }
  throw new GatewayError(
    'UNAVAILABLE',
    'User groups with the same ids are being created and deleted at the same time. Some of this request were not created; others may ' +
      'have been. It is safe to try again.',
  );
}

/** The groups that hold ids, as they are now. */
async function findHolders(
  { sql }: Context,
  ids: readonly string[],
  withJson: boolean,
): Promise<Map<string, readonly UserGroup[]>> {
  const found = await findGroupsByProvidedId(sql, ids, withJson);
  return new Map(ids.map((id, index) => [id, found[index] ?? []]));
}

const idsOf = (wanted: readonly Wanted[]): string[] => [...new Set(wanted.map(({ input }) => input.providedId))];

/** What a function returns, or the expected failure that it throws. */
function outcomeOf<Result>(run: () => Result): Result | GatewayError {
  try {
    return run();
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}

/** Whether two groups of these environments may have the same id: only if one is Customer and the other Testing. */
const canShareId = (a: EnvironmentTag | null, b: EnvironmentTag | null): boolean => a !== null && b !== null && a !== b;

/**
 * The group of an environment among those that hold an id; undefined if it can be created.
 *
 * @throws Conflict when two groups that cannot share the id would.
 */
function ownAmong(
  groups: readonly UserGroup[],
  providedId: string,
  environmentTag: EnvironmentTag | null,
): UserGroup | undefined {
  const own = groups.find((group) => group.environmentTag === environmentTag);
  if (!own && groups.some((group) => !canShareId(group.environmentTag, environmentTag)))
    throw idIsHeld(providedId, environmentTag);
  return own;
}

/** A new group as it is stored. */
function draftOf(keys: KeyRing, { input, environmentTag }: Wanted): UserGroupDraft {
  const stored = encryptToken(keys, 'user_group', issueToken('userGroup'));
  const status = { suspended: false, suspendedReason: null };
  return { providedId: input.providedId, environmentTag, ...status, ...stored, ...initialValues(input, input) };
}

/**
 * The id is taken for groups of `environmentTag`: by an untagged group, or for an untagged one, by a group of any environment.
 */
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
