import { useEffect, useState } from 'react';
import { type Client, payloadOf } from '../graphql/client.ts';
import { toFailure } from '../graphql/failure.ts';
import { type GroupDetailFragment, UpdateGroup, type UpdateUserGroupInput } from '../graphql/generated.ts';
import { useMutation } from '../graphql/use-mutation.ts';
import { useMessage } from '../ui/messages.tsx';
import type { GroupSectionProps } from './group.tsx';
import { conflictsOf, isEqual, merge } from './merge.ts';

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

/** How often changes are sent, merged with others that are made at the same time, before the person is asked to try again. */
const maxTries = 6;

/** How to save. */
export interface SaveOptions {
  /** What to send first, if that is not what the part makes of the value. */
  readonly first?: Change | undefined;
  /** The group with other values, which the person has seen and decided to replace. */
  readonly over?: GroupDetailFragment;
}

/** The state of what a person edits, which may have another form than what is saved, such as a text of JSON. */
type DraftState<Draft> = readonly [
  draft: Edited<Draft> | undefined,
  setDraft: (change: (latest: Edited<Draft> | undefined) => Edited<Draft> | undefined) => void,
];

/** An update of which it is not known whether it was made. */
interface Uncertain<Value> {
  readonly edited: Edited<Value>;
  readonly input: UpdateUserGroupInput & { readonly expectedVersion: number };
}

/**
 * Saves a part of the group as one version of it. If the group has another one, what the person edited is merged with what is
 * stored, and saved, unless both have changed the same: then nothing is saved, and the group as it is stored is the mismatch.
 *
 * @param draftState what the person has edited; the hook sets it to what is left of it after it was saved.
 */
export function useUpdate<Value, Draft>(
  { group, onChanged, reload }: GroupSectionProps,
  { valueIn, withValue, changeTo }: Part<Value>,
  [draft, setDraft]: DraftState<Draft>,
) {
  const showMessage = useMessage();
  const [mismatch, setMismatch] = useState<GroupDetailFragment>();
  const [uncertain, setUncertain] = useState<readonly Uncertain<Value>[]>([]);
  const isEdited = draft !== undefined;
  useEffect(() => {
    if (!isEdited) setUncertain([]);
  }, [isEdited]);

  /** What a value is based on that is edited further after it was saved. */
  const baseAfter = (saved: GroupDetailFragment, { base, value }: Edited<Value>): GroupDetailFragment =>
    // What was merged into it is not in what was edited meanwhile, which must not replace it: it has an older version.
    isEqual(valueIn(saved), value) ? saved : withValue(base, value);

  /**
   * Finds out whether updates were made that expect an older version than the group has: each, sent again with its key, gets the
   * response of the first try, or else is a mismatch. So it is not made now, and will never be.
   *
   * @returns the base of what the person has edited: what they have saved.
   */
  const resolve = async (client: Client, updates: readonly Uncertain<Value>[], base: GroupDetailFragment) => {
    let resolved = base;
    for (const update of updates) {
      const { data } = await client.send(UpdateGroup, { input: update.input });
      if (data.updateUserGroup?.__typename === 'UpdateUserGroupPayload')
        resolved = baseAfter(data.updateUserGroup.userGroup, update.edited);
      const known = resolved;
      setUncertain((latest) => latest.filter((each) => each !== update));
      setDraft((latest) => latest && { ...latest, base: known });
    }
    return resolved;
  };

  const update = useMutation(async (client, edited: Edited<Value>, { first, over }: SaveOptions) => {
    let { base, value: wanted } = edited;
    let from = valueIn(over ?? base);
    if (over) wanted = merge(valueIn(base), wanted, from, 'mine') as Value;
    // What is sent first has none of the changes of others: a newer version would be replaced by it.
    let stored = first || !over ? base : over;
    let change = first ?? changeTo(wanted, stored);
    let unresolved = uncertain;
    for (let tries = 1; ; tries += 1) {
      const input = { by: { id: group.id }, expectedVersion: stored.version, ...change };
      const { data, requestId, isReplayed } = await client.send(UpdateGroup, { input }).catch((error) => {
        if (toFailure(error).isOutcomeUnknown) setUncertain((latest) => [...latest, { edited, input }]);
        throw error;
      });
      const result = data.updateUserGroup;
      if (result?.__typename !== 'VersionMismatch' || tries === maxTries) {
        const { userGroup } = payloadOf(result, requestId);
        onChanged(userGroup);
        setUncertain([]);
        const rest = baseAfter(userGroup, { base, value: edited.value });
        setDraft((latest) => latest && (latest.value === draft?.value ? undefined : { ...latest, base: rest }));
        showMessage(isEqual(valueIn(stored), from) ? 'Saved' : 'Saved, with what has changed since you opened it');
        return;
      }
      // The response to an earlier try has the group of that time. Sent again, the update gets a new one: its key is used up.
      if (isReplayed) continue;
      stored = result.userGroup;
      onChanged(stored);
      const { version } = stored;
      const older = unresolved.filter(({ input: { expectedVersion } }) => expectedVersion < version);
      if (older.length > 0) {
        unresolved = unresolved.filter((each) => !older.includes(each));
        base = await resolve(client, older, base);
      }
      if (older.length > 0 || conflictsOf(from, wanted, valueIn(stored)).length > 0) {
        // Others have changed what the person decided to replace: what they began with counts again, as in the choice.
        from = valueIn(base);
        wanted = edited.value;
        if (conflictsOf(from, wanted, valueIn(stored)).length > 0) return setMismatch(stored);
      }
      change = changeTo(merge(from, wanted, valueIn(stored), 'mine') as Value, stored);
    }
  }, reload);

  return {
    isRunning: update.isRunning,
    /** Whether another value than the one that is shown may be stored: going back to that is a change too. */
    isPending: update.isRunning || uncertain.length > 0,
    failure: update.failure,
    /** The group with other values than those that the person has edited, because of which they were not saved. */
    mismatch,
    async save(edited: Edited<Value>, options: SaveOptions = {}): Promise<void> {
      setMismatch(undefined);
      await update.run(edited, options);
    },
    /** Forgets why the latest change failed: it was edited. A mismatch stays until the value is saved or given up. */
    resetFailure: update.reset,
    /** Forgets what was saved: the person has given it up. */
    reset() {
      update.reset();
      setMismatch(undefined);
      if (uncertain.length > 0) reload();
      setUncertain([]);
    },
  };
}
