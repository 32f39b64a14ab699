import type { GroupDetailFragment } from '../graphql/generated.ts';
import { Button } from '../ui/button.tsx';
import { useScrollIntoView } from '../ui/use-scroll-into-view.ts';
import { conflictsOf, isEqual, merge } from './merge.ts';
import { Mismatch } from './mismatch.tsx';
import type { Edited, Part } from './use-update.ts';

interface ChoiceProps<Value> {
  /** What was not saved, such as `The name was not saved`. */
  readonly title: string;
  /** The name of the part as a whole. */
  readonly whole: string;
  readonly part: Part<Value>;
  /** What the person has edited; nothing is shown without it. */
  readonly edited: Edited<Value> | undefined;
  /** The group with other values; nothing is shown without it, and if what differs was edited away. */
  readonly stored: GroupDetailFragment | undefined;
  readonly isSaving: boolean;
  /** Called with what was edited, and the group whose values it replaces. */
  readonly onSaveMine: (edited: Edited<Value>, over: GroupDetailFragment) => void;
  /** Called with what is left to save, if anything is. */
  readonly onTakeStored: (rest: Edited<Value> | undefined) => void;
}

/** Lets the person choose between what they entered and what was stored meanwhile. */
export function Choice<Value>(props: ChoiceProps<Value>) {
  const { title, whole, part, edited, stored, isSaving, onSaveMine, onTakeStored } = props;
  const element = useScrollIntoView(stored);
  // What was begun since then is based on those values, or newer ones.
  if (!edited || !stored || stored.version <= edited.base.version) return null;
  const value = part.valueIn(stored);
  const base = part.valueIn(edited.base);
  const differences = conflictsOf(base, edited.value, value);
  if (differences.length === 0) return null;
  const takeStored = () => {
    const rest = merge(base, edited.value, value, 'stored') as Value;
    onTakeStored(isEqual(rest, value) ? undefined : { base: stored, value: rest });
  };
  return (
    <Mismatch
      ref={element}
      title={title}
      differences={differences}
      left="Yours"
      whole={whole}
      actions={
        <>
          <Button isBusy={isSaving} onClick={(event) => event.currentTarget.form?.reportValidity() && onSaveMine(edited, stored)}>
            Save mine
          </Button>
          <Button disabled={isSaving} onClick={takeStored}>
            Take what is stored
          </Button>
        </>
      }
    >
      Other values were stored since you opened the group. Choose which to keep. Changes of other fields are not lost.
    </Mismatch>
  );
}
