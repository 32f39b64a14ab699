import { useEffect, useState } from 'react';
import { type Client, payloadOf } from '../graphql/client.ts';
import { toFailure } from '../graphql/failure.ts';
import { type GroupDetailFragment, UpdateGroup, type UpdateUserGroupInput } from '../graphql/generated.ts';
import { useMutation } from '../graphql/use-mutation.ts';
import { useMessage } from '../ui/messages.tsx';
import type { GroupSectionProps } from './group.tsx';
import { conflictsOf, isEqual, isObject, memberOf, merge, namesOf } from './merge.ts';

/** What an update changes. */
export type Change = Omit<UpdateUserGroupInput, 'by' | 'expectedVersion'>;

/** The part of a group that a form edits, as JSON. */
export interface Part<Value> {
  valueIn(group: GroupDetailFragment): Value;
  /** The group with another value. */
  withValue(group: GroupDetailFragment, value: Value): GroupDetailFragment;
  /** What gives the group the value. */
  changeTo(value: Value, group: GroupDetailFragment): Change;
}

/** A part of a group that a person has edited. */
export interface Edited<Value> {
  /** The group as it was when the person began. */
  readonly base: GroupDetailFragment;
  readonly value: Value;
}

/** What is left of a draft after it was saved: what the person has edited meanwhile. */
export const editedSince =
  <Value>(sent: Edited<Value> | undefined, base: GroupDetailFragment) =>
  (latest: Edited<Value> | undefined): Edited<Value> | undefined =>
    latest && latest.value !== sent?.value ? { base, value: latest.value } : undefined;

/**
 * What a value is merged with what is stored on, member by member: the base, but for what the person has sent and is stored.
 *
 * @param sent what the person has sent.
 */
export function baseOf(base: unknown, sent: readonly unknown[], stored: unknown): unknown {
  if (sent.some((value) => isEqual(value, stored))) return stored;
  if (!isObject(stored) || sent.length === 0) return base;
  const members = namesOf(isObject(base) ? base : {}, stored).map((name) => [
    name,
    baseOf(
      memberOf(base, name),
      sent.map((value) => memberOf(value, name)),
      memberOf(stored, name),
    ),
  ]);
  return Object.fromEntries(members.filter(([, value]) => value !== undefined));
}

/** How often changes are merged with others that are made at the same time, before the person is asked to try again. */
const maxMerges = 5;

/** How to save. */
export interface SaveOptions {
  /** What to send first, if that is not what the part makes of the value. */
  readonly first?: Change | undefined;
  /** The group with other values, which the person has seen and decided to replace. */
  readonly over?: GroupDetailFragment;
}

/**
 * Saves a part of the group as one version of it. If the group has another one, what the person edited is merged with what is
 * stored, and saved, unless both have changed the same: then nothing is saved, and the group as it is stored is the mismatch.
 *
 * @param isEdited whether there is a draft.
 */
export function useUpdate<Value>(
  { group, onChanged, reload }: GroupSectionProps,
  { valueIn, withValue, changeTo }: Part<Value>,
  isEdited: boolean,
) {
  const showMessage = useMessage();
  const [mismatch, setMismatch] = useState<GroupDetailFragment>();
  /** What was sent of the draft, and may be stored or be stored yet, though the draft has another base. */
  const [sent, setSent] = useState<readonly Value[]>([]);
  useEffect(() => {
    if (!isEdited) setSent([]);
  }, [isEdited]);

  const send = async (client: Client, { base, value }: Edited<Value>, { first, over }: SaveOptions) => {
    const before = valueIn(over ?? base);
    const wanted = over ? merge(baseOf(valueIn(base), sent, before), value, before, 'mine') : value;
    let seen: unknown = before;
    // What is sent first has none of the changes of others: a newer version would be replaced by it.
    let stored = first || !over ? base : over;
    let change = first ?? changeTo(wanted as Value, stored);
    for (let merges = 0; ; merges += 1) {
      const input = { by: { id: group.id }, expectedVersion: stored.version, ...change };
      const { data, requestId } = await client.send(UpdateGroup, { input });
      const result = data.updateUserGroup;
      if (result?.__typename !== 'VersionMismatch' || merges === maxMerges) {
        const { userGroup } = payloadOf(result, requestId);
        onChanged(userGroup);
        setSent([]);
        const isMerged = merges > 0 && !isEqual(valueIn(stored), seen);
        showMessage(isMerged ? 'Saved, with what has changed since you opened it' : 'Saved');
        return userGroup;
      }
      stored = result.userGroup;
      onChanged(stored);
      seen = baseOf(before, sent, valueIn(stored));
      if (conflictsOf(seen, wanted, valueIn(stored)).length > 0) {
        setMismatch(stored);
        return undefined;
      }
      change = changeTo(merge(seen, wanted, valueIn(stored), 'mine') as Value, stored);
    }
  };
  const update = useMutation(async (client, edited: Edited<Value>, options: SaveOptions) => {
    try {
      return await send(client, edited, options);
    } catch (error) {
      if (toFailure(error).isOutcomeUnknown) setSent([...sent, edited.value]);
      throw error;
    }
  }, reload);

  return {
    isRunning: update.isRunning,
    /** Whether another value than the one that is shown may be stored: going back to that is a change too. */
    isPending: update.isRunning || sent.length > 0,
    failure: update.failure,
    sent,
    /** The group with other values than those that the person has edited, because of which they were not saved. */
    mismatch,
    /** @returns the base of what the person has edited meanwhile; undefined if it is not saved. */
    async save(edited: Edited<Value>, options: SaveOptions = {}): Promise<GroupDetailFragment | undefined> {
      setMismatch(undefined);
      const saved = await update.run(edited, options);
      // What was merged into it is not in what was edited meanwhile, which must not replace it: it has an older version.
      return saved && (isEqual(valueIn(saved), edited.value) ? saved : withValue(edited.base, edited.value));
    },
    /** Forgets why the latest change failed: it was edited. A mismatch stays until the value is saved or given up. */
    resetFailure: update.reset,
    reset() {
      update.reset();
      setMismatch(undefined);
      if (sent.length > 0) reload();
      setSent([]);
    },
  };
}
