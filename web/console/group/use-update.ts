import { useState } from 'react';
import { payloadOf } from '../graphql/client.ts';
import { type GroupDetailFragment, UpdateGroup, type UpdateUserGroupInput } from '../graphql/generated.ts';
import { useMutation } from '../graphql/use-mutation.ts';
import { useMessage } from '../ui/messages.tsx';
import type { GroupSectionProps } from './group.tsx';
import { differencesOf, isEqual, merge } from './merge.ts';

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

/** How often changes are merged with others that are made at the same time, before the person is asked to try again. */
const maxMerges = 5;

/**
 * Saves a part of the group as one version of it. If the group has another one, what the person edited is merged with what is
 * stored, and saved, unless both have changed the same: then nothing is saved, and the group as it is stored is a mismatch.
 */
export function useUpdate<Value>({ group, onChanged }: GroupSectionProps, { valueIn, changeTo }: Part<Value>) {
  const showMessage = useMessage();
  const [mismatch, setMismatch] = useState<{ readonly base: GroupDetailFragment; readonly stored: GroupDetailFragment }>();

  /** @returns whether it is saved. @param first what to send first, if that is not what the part makes of the value. */
  const update = useMutation(async (client, edited: Edited<Value>, first?: Change) => {
    let { base, value } = edited;
    let change = first ?? changeTo(value, base);
    for (let merges = 0; ; merges += 1) {
      const input = { by: { id: group.id }, expectedVersion: base.version, ...change };
      const { data, requestId } = await client.send(UpdateGroup, { input });
      const result = data.updateUserGroup;
      if (result?.__typename !== 'VersionMismatch' || merges === maxMerges) {
        onChanged(payloadOf(result, requestId).userGroup);
        const isMerged = !isEqual(valueIn(base), valueIn(edited.base));
        showMessage(isMerged ? 'Saved, with what has changed since you opened it' : 'Saved');
        return true;
      }
      const stored = result.userGroup;
      onChanged(stored);
      if (conflictsOf(valueIn(base), value, valueIn(stored)).length > 0) {
        setMismatch({ base: edited.base, stored });
        return false;
      }
      value = merge(valueIn(base), value, valueIn(stored), 'mine') as Value;
      base = stored;
      change = changeTo(value, base);
    }
  });

  return {
    isRunning: update.isRunning,
    failure: update.failure,
    async save(edited: Edited<Value>, first?: Change): Promise<boolean> {
      setMismatch(undefined);
      return (await update.run(edited, first)) ?? false;
    },
    /** Forgets why the latest change failed: it was edited. A mismatch stays until the value is saved or given up. */
    resetFailure: update.reset,
    reset() {
      update.reset();
      setMismatch(undefined);
    },
    /** How the value, as it is edited now, and the stored one differ where both were changed; nothing without a mismatch. */
    choiceFor(value: Value) {
      if (!mismatch) return undefined;
      const base = valueIn(mismatch.base);
      const stored = valueIn(mismatch.stored);
      const merged = (winner: 'mine' | 'stored'): Edited<Value> => ({
        base: mismatch.stored,
        value: merge(base, value, stored, winner) as Value,
      });
      const rest = merged('stored');
      return {
        differences: conflictsOf(base, value, stored),
        /** What is saved if the person keeps their own values. */
        mine: merged('mine'),
        /** What is left to save if the person takes the stored values. */
        rest: isEqual(rest.value, stored) ? undefined : rest,
      };
    },
  };
}

/** Where both values changed the same member of the one that they started from. */
function conflictsOf(base: unknown, mine: unknown, stored: unknown) {
  return differencesOf(merge(base, mine, stored, 'mine'), merge(base, mine, stored, 'stored'));
}
