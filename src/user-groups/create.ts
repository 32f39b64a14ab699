import { requireEventBytes } from '../audit-log/record.ts';
import type { Author } from '../audit-log/statements/insert.ts';
import type { Caller } from '../caller.ts';
import type { KeyRing } from '../encryption/keys.ts';
import { encryptToken } from '../encryption/stored-token.ts';
import { Conflict, GatewayError } from '../errors.ts';
import type { EnvironmentTag, UserGroup } from '../generated/prisma/client.ts';
import { issueToken } from '../tokens.ts';
import { initialValues, type UserGroupFields } from './attribute-values.ts';
import { checkGetOrCreate, newGroupRefusal } from './rules.ts';
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
export const isOfDraft = ({ tokenHash }: UserGroup, draft: AuthoredDraft): boolean =>
  Buffer.compare(tokenHash, draft.tokenHash) === 0;

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
