import { Button } from '../ui/button.tsx';
import type { Difference } from './merge.ts';
import { Mismatch } from './mismatch.tsx';

interface ChoiceProps {
  /** What was not saved, such as `The name was not saved`. */
  readonly title: string;
  /** Nothing is shown if there is none. */
  readonly differences: readonly Difference[] | undefined;
  readonly whole?: string;
  readonly isSaving: boolean;
  readonly onSaveMine: () => void;
  readonly onTakeStored: () => void;
}

/** Lets the person choose between what they entered and what someone else has stored meanwhile. */
export function Choice({ title, differences = [], whole, isSaving, onSaveMine, onTakeStored }: ChoiceProps) {
  if (differences.length === 0) return null;
  return (
    <Mismatch
      title={title}
      differences={differences}
      left="Yours"
      {...(whole !== undefined && { whole })}
      actions={
        <>
          <Button isBusy={isSaving} onClick={onSaveMine}>
            Save mine
          </Button>
          <Button onClick={onTakeStored}>Take what is stored</Button>
        </>
      }
    >
      Other values were stored since you opened the group. Choose which to keep. Changes of other fields are not lost.
    </Mismatch>
  );
}
