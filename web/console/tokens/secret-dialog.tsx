import type { ReactNode } from 'react';
import { Button } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import type { ApiTokenRow } from './token-table.tsx';

/** A secret, which the gateway returns only once. */
export interface ShownSecret {
  readonly title: string;
  readonly apiToken: ApiTokenRow;
  readonly secret: string;
  /** What becomes of the replaced secret. */
  readonly note?: ReactNode;
}

/** Shows the secret of an API token. Escape does not close it: the secret would be lost. */
export function SecretDialog({ shown, onClose }: { readonly shown: ShownSecret; readonly onClose: () => void }) {
  return (
    <Dialog title={shown.title} onClose={onClose} isClosable={false}>
      <p>
        This is the secret of <strong>{shown.apiToken.name}</strong>. Store it now: <strong>it is not shown again</strong>. A
        caller sends it as <code>Authorization: Token …</code>.
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
