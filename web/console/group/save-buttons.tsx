import { useEffect } from 'react';
import { holdUnsaved } from '../app/router.tsx';
import { Button } from '../ui/button.tsx';

interface SaveButtonsProps {
  readonly label: string;
  readonly isChanged: boolean;
  readonly isSaving: boolean;
  readonly onDiscard: () => void;
}

/** The end of a form: buttons that save and discard its changes. With changes, leaving the page is asked about. */
export function SaveButtons({ label, isChanged, isSaving, onDiscard }: SaveButtonsProps) {
  useEffect(() => (isChanged ? holdUnsaved() : undefined), [isChanged]);
  return (
    <footer className="form-footer">
      <Button type="submit" variant="primary" disabled={!isChanged} isBusy={isSaving}>
        {label}
      </Button>
      {isChanged && (
        // What is being saved cannot be discarded any more.
        <Button variant="quiet" disabled={isSaving} onClick={onDiscard}>
          Discard the changes
        </Button>
      )}
    </footer>
  );
}
