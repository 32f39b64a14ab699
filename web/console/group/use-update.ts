import { useState } from 'react';
import { payloadOf } from '../graphql/client.ts';
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
  /** What gives the group the value. */
  changeTo(value: Value, group: GroupDetailFragment): Change;
}

/** A part of a group that a person has edited. */
export interface Edited<Value> {
  /** The group as it was when the person began. */
  readonly base: GroupDetailFragment;
  readonly value: Value;
}

/** How to save. */
export interface SaveOptions {
  /** What to send first, if that is not what the part makes of the value. */
  readonly first?: Change | undefined;
  /** The group with other values, which the person has seen and decided to replace. */
  readonly over?: GroupDetailFragment;
}

/** An update, and what it is to achieve. */
interface Attempt<Value> {
  readonly wanted: Edited<Value>;
  readonly input: UpdateUserGroupInput;
}

/** How often changes are sent, merged with others that are made at the same time, before the person is asked to try again. */
const maxTries = 6;

/** What to do while a form is locked because its change may have been made. */
export const lockedRemedy =
  'Nothing can be edited here until that is known. Save it again, within 24 hours: it is made only once. Discarding does not take it back.';

/**
 * Saves a part of the group as one version of it. If the group has another one, what the person edited is merged with what is
 * stored, and saved, unless both have changed the same: then nothing is saved, and the group as it is stored is the mismatch.
 * An update without a response is sent again, as it was, before anything else can be saved.
 *
 * @param onSaved called when it is saved, after the group has been passed on: there is nothing left to save.
 */
export function useUpdate<Value>(
  { group, onChanged, reload }: GroupSectionProps,
  { valueIn, changeTo }: Part<Value>,
  onSaved: () => void,
) {
  const showMessage = useMessage();
  const [mismatch, setMismatch] = useState<GroupDetailFragment>();
  /** The update of which it is not known whether it was made. */
  const [pending, setPending] = useState<Attempt<Value>>();

  const attemptOf = (wanted: Edited<Value>, { version }: GroupDetailFragment, change: Change): Attempt<Value> => ({
    wanted,
    input: { by: { id: group.id }, expectedVersion: version, ...change },
  });
  const mergedWith = (stored: GroupDetailFragment, { base, value }: Edited<Value>) =>
    merge(valueIn(base), value, valueIn(stored), 'mine') as Value;

  const firstAttempt = (edited: Edited<Value>, { first, over }: SaveOptions): Attempt<Value> => {
    const wanted = over ? { base: over, value: mergedWith(over, edited) } : edited;
    // What is sent first has none of the changes of others: a newer version would be replaced by it.
    return first ? attemptOf(wanted, edited.base, first) : attemptOf(wanted, wanted.base, changeTo(wanted.value, wanted.base));
  };

  const update = useMutation(async (client, edited: Edited<Value>, options: SaveOptions) => {
    let attempt = pending ?? firstAttempt(edited, options);
    for (let tries = 1; ; tries += 1) {
      const { wanted, input } = attempt;
      const { data, requestId, isReplayed } = await client.send(UpdateGroup, { input }).catch((error) => {
        setPending(toFailure(error).isOutcomeUnknown ? { wanted, input } : undefined);
        throw error;
      });
      setPending(undefined);
      const result = data.updateUserGroup;
      if (result?.__typename !== 'VersionMismatch' || tries === maxTries) {
        const { userGroup } = payloadOf(result, requestId);
        onChanged(userGroup);
        onSaved();
        const isOnlyOwn = tries === 1 && isEqual(valueIn(userGroup), wanted.value);
        return isOnlyOwn ? 'Saved' : 'Saved. The group has other changes, too: the page shows it as it is now';
      }
      // The response to an earlier try has the group of that time. Sent again, the update gets a new one: its key is used up.
      if (isReplayed) continue;
      const stored = result.userGroup;
      onChanged(stored);
      // If others have changed what the person decided to replace, what they began with counts again, as in the choice.
      const mergeable = [wanted, edited].find(
        ({ base, value }) => conflictsOf(valueIn(base), value, valueIn(stored)).length === 0,
      );
      if (!mergeable) {
        setMismatch(stored);
        return undefined;
      }
      attempt = attemptOf(mergeable, stored, changeTo(mergedWith(stored, mergeable), stored));
    }
  }, reload);

  return {
    isRunning: update.isRunning,
    /** Whether nothing can be edited: it is being saved, or may have been. Saving again finds that out. */
    isLocked: update.isLocked,
    failure: update.failure,
    /** The group with other values than those that the person has edited, because of which they were not saved. */
    mismatch,
    async save(edited: Edited<Value>, options: SaveOptions = {}): Promise<void> {
      setMismatch(undefined);
      const saved = await update.run(edited, options);
      if (saved) showMessage(saved);
    },
    /** Forgets why the latest change failed: it was edited. A mismatch stays until the value is saved or given up. */
    resetFailure: update.reset,
    /** Forgets what was saved: the person has given it up. */
    reset() {
      update.giveUp();
      setMismatch(undefined);
      if (!pending) return;
      setPending(undefined);
      reload();
    },
  };
}
