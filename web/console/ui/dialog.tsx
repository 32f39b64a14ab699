import { type ReactNode, useEffect, useId, useRef } from 'react';
import { Button } from './button.tsx';
import { CloseIcon } from './icons.tsx';

interface DialogProps {
  readonly title: string;
  readonly children: ReactNode;
  /** Called when a person closes it, by button or by Escape. */
  readonly onClose: () => void;
  /** Whether it can be closed: not while a secret that is shown once has not been copied, say. */
  readonly isClosable?: boolean;
}

/** A modal dialog: the browser keeps the focus in it, and returns it afterwards. Mounted only while it is open. */
export function Dialog({ title, children, onClose, isClosable = true }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const dialog = element.current;
    if (dialog && !dialog.open) {
      dialog.showModal();
      // The browser would choose the button that closes it.
      dialog.querySelector<HTMLElement>('form :is(input, select)')?.focus();
    }
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={element}
      className="dialog"
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        if (isClosable) onClose();
      }}
      // Browsers let a page prevent one Escape only: the second one closes the dialog.
      onKeyDown={(event) => {
        if (event.key === 'Escape' && !isClosable) event.preventDefault();
      }}
      onClose={() => {
        if (element.current?.open) return; // closed and reopened in the meantime
        if (isClosable) onClose();
        else element.current?.showModal();
      }}
    >
      <header className="dialog-header">
        <h2 id={titleId}>{title}</h2>
        {isClosable && (
          <Button variant="quiet" className="icon-only" aria-label="Close" onClick={onClose}>
            <CloseIcon />
          </Button>
        )}
      </header>
      {children}
    </dialog>
  );
}

interface DialogFooterProps {
  /** The label of the button that submits the dialog's form. */
  readonly children: ReactNode;
  readonly onClose: () => void;
  readonly closeLabel?: string;
  readonly isDangerous?: boolean;
  readonly isDisabled?: boolean;
  /** Whether what the form does is running. */
  readonly isBusy: boolean;
}

/** The buttons of a dialog with a form: one closes it, the other submits the form. */
export function DialogFooter({ children, onClose, closeLabel = 'Cancel', isDangerous, isDisabled, isBusy }: DialogFooterProps) {
  return (
    <footer className="dialog-footer">
      <Button onClick={onClose}>{closeLabel}</Button>
      <Button type="submit" variant={isDangerous ? 'danger' : 'primary'} disabled={isDisabled} isBusy={isBusy}>
        {children}
      </Button>
    </footer>
  );
}
