import {
  createContext,
  type FocusEvent,
  type ReactNode,
  useContext,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { holdUnsaved } from '../app/router.tsx';
import { Button } from './button.tsx';
import { CloseIcon } from './icons.tsx';

interface DialogProps {
  readonly title: string;
  readonly children: ReactNode;
  /** Called when a person closes it, by button or by Escape. */
  readonly onClose: () => void;
  /** Whether what its form does is running. */
  readonly isBusy?: boolean;
  /** Whether it can be closed: by default not while it is busy, because that would not take back what has been sent. */
  readonly isClosable?: boolean;
}

/** What the footer has of its dialog. */
const DialogContext = createContext({ onClose: () => {}, isBusy: false, isClosable: true });

/**
 * A modal dialog: the browser keeps the focus in it, and returns it afterwards. Mounted only while it is open. While it cannot be
 * closed, and once something was entered, leaving the page is asked about.
 */
export function Dialog({ title, children, onClose, isBusy = false, isClosable = !isBusy }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  // Closed before it is removed, which would lose the focus that the browser returns.
  useLayoutEffect(() => {
    const dialog = element.current;
    if (dialog && !dialog.open) {
      dialog.showModal();
      // The browser would choose the button that closes it.
      dialog.querySelector<HTMLElement>('form :is(input, select)')?.focus();
    }
    return () => dialog?.close();
  }, []);
  const [isEdited, setIsEdited] = useState(false);
  const isHeld = isEdited || !isClosable;
  useEffect(() => (isHeld ? holdUnsaved() : undefined), [isHeld]);
  return (
    <dialog
      ref={element}
      className="dialog"
      aria-labelledby={titleId}
      onInput={() => setIsEdited(true)}
      onCancel={(event) => {
        event.preventDefault();
        if (isClosable) onClose();
      }}
      onKeyDown={(event) => {
        // Browsers let a page prevent one Escape only: the second one closes the dialog.
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
      <DialogContext value={{ onClose, isBusy, isClosable }}>{children}</DialogContext>
    </dialog>
  );
}

interface DialogFieldsProps {
  /** Whether they cannot be edited: what they say is being sent, or it is not known whether it was done. */
  readonly isLocked: boolean;
  readonly children: ReactNode;
}

/** The fields of a dialog's form. While they are locked, the button that submits the form has their focus. */
export function DialogFields({ isLocked, children }: DialogFieldsProps) {
  const element = useRef<HTMLFieldSetElement>(null);
  /** What had the focus, and gets it back. */
  const focused = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    // The browser has taken the focus from a field that can no longer be edited.
    if (isLocked && document.activeElement === document.body)
      element.current?.form?.querySelector<HTMLElement>('[type=submit]')?.focus();
    if (!isLocked) focused.current?.focus();
  }, [isLocked]);
  const onFocus = (event: FocusEvent<HTMLElement>) => {
    if (!isLocked) focused.current = event.target;
  };
  const onBlur = () => {
    if (!isLocked) focused.current = null;
  };
  return (
    <fieldset ref={element} disabled={isLocked} onFocus={onFocus} onBlur={onBlur}>
      {children}
    </fieldset>
  );
}

interface DialogFooterProps {
  /** The label of the button that submits the dialog's form. */
  readonly children: ReactNode;
  readonly closeLabel?: string;
  readonly isDangerous?: boolean;
  readonly isDisabled?: boolean;
}

/** The buttons of a dialog with a form: one closes it, the other submits the form. */
export function DialogFooter({ children, closeLabel = 'Cancel', isDangerous, isDisabled }: DialogFooterProps) {
  const { onClose, isBusy, isClosable } = useContext(DialogContext);
  return (
    <footer className="dialog-footer">
      <Button onClick={onClose} disabled={!isClosable}>
        {closeLabel}
      </Button>
      <Button type="submit" variant={isDangerous ? 'danger' : 'primary'} disabled={isDisabled} isBusy={isBusy}>
        {children}
      </Button>
    </footer>
  );
}
