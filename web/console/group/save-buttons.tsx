import { useEffect } from 'react';
import { Button } from '../ui/button.tsx';

interface SaveButtonsProps {
  readonly label: string;
  readonly isChanged: boolean;
  readonly isSaving: boolean;
  readonly onDiscard: () => void;
}

/** The end of a form: buttons that save and discard its changes. With changes, the browser asks before it leaves the page. */
export function SaveButtons({ label, isChanged, isSaving, onDiscard }: SaveButtonsProps) {
  useEffect(() => {
    if (!isChanged) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [isChanged]);
  return (
    <footer className="form-footer">
      <Button type="submit" variant="primary" disabled={!isChanged} isBusy={isSaving}>
        {label}
      </Button>
      {isChanged && (
        <Button variant="quiet" onClick={onDiscard}>
          Discard the changes
        </Button>
      )}
    </footer>
  );
}
