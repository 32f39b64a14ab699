import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { CopyButton } from './copy-button.tsx';
import { Dialog } from './dialog.tsx';

/** A secret, which the gateway returns only once. */
export interface ShownSecret {
  readonly title: string;
  readonly secret: string;
  /** What becomes of the replaced secret. */
  readonly note?: ReactNode;
}

interface SecretDialogProps {
  readonly shown: ShownSecret;
  /** What it is the secret of, such as a name. */
  readonly owner: ReactNode;
  /** What it is used for, in a sentence. */
  readonly use: ReactNode;
  readonly onClose: () => void;
}

/** Shows a secret. Escape does not close it: the secret would be lost. */
export function SecretDialog({ shown, owner, use, onClose }: SecretDialogProps) {
  return (
    <Dialog title={shown.title} onClose={onClose} isClosable={false}>
      <p>
        This is the secret of <strong>{owner}</strong>. Store it now: <strong>it is not shown again</strong>. {use}
      </p>
      <div className="secret">
        <code>{shown.secret}</code>
        <CopyButton text={shown.secret} label="Copy the secret" isLabelShown />
      </div>
      {shown.note && <p>{shown.note}</p>}
      <footer className="dialog-footer">
        <Button variant="primary" onClick={onClose}>
          I have stored it
        </Button>
      </footer>
    </Dialog>
  );
}
