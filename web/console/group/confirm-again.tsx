import { useScrollIntoView } from '../ui/use-scroll-into-view.ts';
import type { Difference } from './merge.ts';
import { Mismatch } from './mismatch.tsx';

interface ConfirmAgainProps {
  /** What was not done, such as `The group was not deleted`. */
  readonly title: string;
  /** Nothing is shown if this is undefined. */
  readonly differences: readonly Difference[] | undefined;
}

/** Says that the group has changed since the person saw it, and how. */
export function ConfirmAgain({ title, differences }: ConfirmAgainProps) {
  const element = useScrollIntoView(differences);
  if (!differences) return null;
  return (
    <Mismatch ref={element} title={title} differences={differences} left="Shown before">
      The group was changed since you opened it
      {differences.length === 0 && ': its token was rotated, or values were saved that are the same now'}. Check it, then confirm
      again.
    </Mismatch>
  );
}
