import { requireEventBytes } from '../audit-log/record.ts';
import type { Author } from '../audit-log/statements/insert.ts';
import type { Caller } from '../caller.ts';
import type { KeyRing } from '../encryption/keys.ts';
import { encryptToken } from '../encryption/stored-token.ts';
import { Conflict, GatewayError, type InvalidInput } from '../errors.ts';
import type { EnvironmentTag, UserGroup } from '../generated/prisma/client.ts';
import { issueToken } from '../tokens.ts';
import { initialValues, type UserGroupFields } from './attribute-values.ts';
import { checkBulkSize, checkGetOrCreate, newGroupRefusal } from './rules.ts';
import type { AuthoredDraft } from './statements/insert.ts';
import { type Services, withToken } from './user-groups.ts';

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
 * @throws InvalidInput; for control characters in the id or the name only if the group does not exist.
 * @throws Conflict when a group of another environment, or an untagged one, holds the id.
 * @throws GatewayError `RATE_LIMITED` when the API token has recorded too much in the audit log.
 */
export async function getOrCreateUserGroup(services: Services, caller: Caller, input: NewUserGroup): Promise<Creation> {
  caller.require('groups:write');
  const environmentTag = caller.chooseEnvironment(input.environmentTag);
  checkGetOrCreate(input);
  const { providedId } = input;

  const existing = ownAmong((await services.db.userGroup.findByProvidedId(providedId, caller.queueKey)) ?? [], {
    providedId,
    environmentTag,
  });
  if (existing) return { userGroup: existing, created: false };
  const refusal = newGroupRefusal(input);
  if (refusal) throw refusal;

  const { draft, token } = draftOf(services.keys, input, environmentTag, caller.author);
  requireEventBytes(services.eventBytes, caller);
  for (let attempt = 1; attempt <= maxCreationAttempts; attempt += 1) {
    const inserted = await services.db.userGroup.insertOne(draft, caller.queueKey);
    // Calls for one id that came together share one insertion: the group belongs to the call whose token it has.
    const created = inserted !== undefined && isOfDraft(inserted, draft);
    if (inserted) return { userGroup: created ? withToken(inserted, token) : inserted, created };

    // Where it was to be inserted, so that the group that came first is there: the winner, or one that conflicts.
    const holders = (await services.db.userGroup.findHoldersOfId(providedId, caller.queueKey)) ?? [];
    const winner = ownAmong(holders, { providedId, environmentTag });
    if (winner) return { userGroup: winner, created: false };
    // It was deleted since, or moved to another environment.
  }
  throw creationContended(providedId);
}

/** A group of a bulk call that is valid and has no outcome yet. */
interface PendingGroup {
  readonly index: number;
  readonly input: NewUserGroup;
  readonly environmentTag: EnvironmentTag | null;
}

/**
 * Does for each input what {@link getOrCreateUserGroup} does, one after another, in a number of statements that does not depend
 * on how many there are.
 *
 * @param withJson whether properties and mappings of existing groups are read; without it, taking them from a group throws.
 * @returns for each input, in order, what that function returns or throws: a failure of one does not affect the others.
 * @throws Forbidden without `groups:write`.
 * @throws InvalidInput for none, or more than 1,000.
 * @throws GatewayError `RATE_LIMITED` when the API token has recorded too much in the audit log.
 * @throws GatewayError `UNAVAILABLE` when groups with one of the ids come and go during each attempt.
 */
export async function getOrCreateUserGroups(
  services: Services,
  caller: Caller,
  inputs: readonly NewUserGroup[],
  { withJson }: { readonly withJson: boolean },
): Promise<(Creation | GatewayError)[]> {
  caller.require('groups:write');
  checkBulkSize(inputs);
  const outcomes: (Creation | GatewayError)[] = [];
  const settle = (index: number, decide: () => Creation | undefined): boolean => {
    try {
      const creation = decide();
      if (creation) outcomes[index] = creation;
      return creation !== undefined;
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      outcomes[index] = error;
      return true;
    }
  };

  let pending: PendingGroup[] = [];
  for (const [index, input] of inputs.entries()) {
    settle(index, () => {
      const environmentTag = caller.chooseEnvironment(input.environmentTag);
      checkGetOrCreate(input);
      pending.push({ index, input, environmentTag });
      return undefined;
    });
  }

  if (pending.length === 0) return outcomes;
  const { author } = caller;
  const stored = new Map(await services.db.userGroup.findByProvidedIds(idsOf(pending), withJson));
  for (let attempt = 1; attempt <= maxCreationAttempts; attempt += 1) {
    const { drafts: planned, refusals } = planDrafts(services.keys, author, pending, stored);
    const drafts = [...planned.values()].map(({ draft }) => draft);
    if (attempt === 1 && drafts.length > 0) requireEventBytes(services.eventBytes, caller);
    const inserted = drafts.length > 0 ? await services.db.userGroup.insertMany(drafts) : [];
    for (const group of inserted) stored.set(group.providedId, [...(stored.get(group.providedId) ?? []), group]);

    pending = pending.filter(({ index, input: { providedId }, environmentTag }) => {
      const own = planned.get(index);
      return !settle(index, () => {
        const refusal = refusals.get(index);
        if (refusal) throw refusal;
        const userGroup = ownAmong(stored.get(providedId) ?? [], { providedId, environmentTag });
        if (!userGroup) return undefined;
        const created = own !== undefined && isOfDraft(userGroup, own.draft);
        return { userGroup: created ? withToken(userGroup, own.token) : userGroup, created };
      });
    });
    if (pending.length === 0) return outcomes;
    // Something else holds these ids, or did: read where groups are written.
    const ids = idsOf(pending);
    const holders = await services.db.userGroup.findHoldersOfIds(ids, withJson);
    for (const id of ids) stored.set(id, holders.get(id) ?? []);
  }
  throw creationContended(pending[0]?.input.providedId ?? '', ' Others of the same request may have been.');
}

const idsOf = (pending: readonly PendingGroup[]): string[] => [...new Set(pending.map(({ input }) => input.providedId))];

/**
 * The groups to insert, by the index of their input: those that neither a stored group nor one that is planned before excludes.
 * And of those the ones that may not be created, with the reason.
 */
function planDrafts(
  keys: KeyRing,
  author: Author,
  pending: readonly PendingGroup[],
  stored: ReadonlyMap<string, readonly UserGroup[]>,
): { drafts: Map<number, NewDraft>; refusals: Map<number, InvalidInput> } {
  const drafts = new Map<number, NewDraft>();
  const refusals = new Map<number, InvalidInput>();
  const taken = new Map<string, (EnvironmentTag | null)[]>();
  for (const { index, input, environmentTag } of pending) {
    const { providedId } = input;
    const tags = taken.get(providedId) ?? (stored.get(providedId) ?? []).map((group) => group.environmentTag);
    taken.set(providedId, tags);
    if (tags.some((tag) => tag === environmentTag || !canShareId(tag, environmentTag))) continue;
    const refusal = newGroupRefusal(input);
    if (refusal) {
      refusals.set(index, refusal);
      continue;
    }
    tags.push(environmentTag);
    drafts.set(index, draftOf(keys, input, environmentTag, author));
  }
  return { drafts, refusals };
}

/** How often a creation begins again because the group that was in its way is gone. */
const maxCreationAttempts = 5;

/** The error when groups with the id came and went during each attempt. */
function creationContended(providedId: string, others = ''): GatewayError {
  const cause = `User groups with the id ${JSON.stringify(providedId)} are being created and deleted at the same time.`;
  return new GatewayError('UNAVAILABLE', `${cause} This one was not created.${others} It is safe to try again.`);
}

/** Whether two groups of these environments may have the same id: only if one is Customer and the other Testing. */
function canShareId(a: EnvironmentTag | null, b: EnvironmentTag | null): boolean {
  return a !== null && b !== null && a !== b;
}

/**
 * The group of an environment among those that hold an id; undefined if it can be created.
 *
 * @throws Conflict when two groups that cannot share the id would.
 */
function ownAmong(
  groups: readonly UserGroup[],
  { providedId, environmentTag }: Pick<UserGroup, 'providedId' | 'environmentTag'>,
): UserGroup | undefined {
  const own = groups.find((group) => group.environmentTag === environmentTag);
  if (!own && groups.some((group) => !canShareId(group.environmentTag, environmentTag)))
    throw idIsHeld(providedId, environmentTag);
  return own;
}

/** A group to insert, and its token, which the draft has encrypted. */
export interface NewDraft {
  readonly draft: AuthoredDraft;
  readonly token: string;
}

/** A new group as it is stored, with a new token. */
export function draftOf(keys: KeyRing, input: NewUserGroup, environmentTag: EnvironmentTag | null, author: Author): NewDraft {
  const token = issueToken('userGroup');
  const { providedId } = input;
  const stored = encryptToken(keys, 'user_group', token);
  const draft = { providedId, environmentTag, ...stored, ...initialValues(input, input), author };
  return { draft, token };
}

/** Whether an inserted group is the one of this draft: no two drafts have the same token. */
const isOfDraft = ({ tokenHash }: UserGroup, draft: AuthoredDraft): boolean => Buffer.compare(tokenHash, draft.tokenHash) === 0;

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
