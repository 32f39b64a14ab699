import { requireEventBytes } from '../audit-log/record.ts';
import type { Author } from '../audit-log/statements/insert.ts';
import type { Caller } from '../caller.ts';
import type { KeyRing } from '../encryption/keys.ts';
import { GatewayError, type InvalidInput } from '../errors.ts';
import type { EnvironmentTag, UserGroup } from '../generated/prisma/client.ts';
import {
  type Creation,
  canShareId,
  creationContended,
  draftOf,
  isOfDraft,
  maxCreationAttempts,
  type NewDraft,
  type NewUserGroup,
  ownAmong,
} from './create.ts';
import { checkBulkSize, checkGetOrCreate, newGroupRefusal } from './rules.ts';
import { type Services, withToken } from './user-groups.ts';

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
  throw creationContended(pending[0]?.input.providedId ?? '');
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
