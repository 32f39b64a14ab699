import { type FormEvent, useState } from 'react';
import { useSession } from '../app/session.tsx';
import { payloadOf } from '../graphql/client.ts';
import { RevokeApiToken } from '../graphql/generated.ts';
import { useMutation } from '../graphql/use-mutation.ts';
import { EnvironmentBadge } from '../ui/badge.tsx';
import { Dialog, DialogFooter } from '../ui/dialog.tsx';
import { FailureNotice } from '../ui/failure-notice.tsx';
import { TextField } from '../ui/field.tsx';
import { useMessage } from '../ui/messages.tsx';
import { Time } from '../ui/time.tsx';
import type { ApiTokenRow } from './token-table.tsx';

interface RevokeTokenProps {
  readonly apiToken: ApiTokenRow;
  /** The API token as it is now; undefined if that is not known. */
  readonly latest: ApiTokenRow | undefined;
  readonly onClose: () => void;
  readonly onRevoked: () => void;
}

/** Revokes an API token, after the person has typed its number. */
export function RevokeToken({ apiToken, latest, onClose, onRevoked }: RevokeTokenProps) {
  const { caller } = useSession();
  const showMessage = useMessage();
  const [typed, setTyped] = useState('');
  const revocation = useMutation(async (client) => {
    const { data, requestId } = await client.send(RevokeApiToken, { id: apiToken.id });
    return payloadOf(data.revokeApiToken, requestId);
  });
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!(await revocation.run())) return;
    showMessage(`Revoked ${apiToken.name}`);
    onRevoked();
  };
  return (
    <Dialog title={`Revoke ${apiToken.name}`} onClose={onClose} isBusy={revocation.isRunning}>
      <form onSubmit={(event) => void submit(event)}>
        <p>
          <EnvironmentBadge tag={apiToken.environmentTag} /> Every request with it is rejected from now on. This cannot be undone.
        </p>
        <p>
          {!latest && 'It is not known when it was last used.'}
          {latest && !latest.lastUsedAt && 'It has never been used.'}
          {latest?.lastUsedAt && (
            <>
              It was last used <Time value={latest.lastUsedAt} />.
            </>
          )}
        </p>
        {apiToken.id === caller.id && (
          <p className="notice bad">This is the API token that you are signed in with: you will be signed out.</p>
        )}
        <TextField
          label={`Type its number, ${apiToken.number}, to confirm`}
          inputMode="numeric"
          value={typed}
          onChange={setTyped}
        />
        <FailureNotice title="The API token was not revoked" failure={revocation.failure} />
        <DialogFooter isDangerous isDisabled={typed.trim() !== String(apiToken.number)}>
          Revoke
        </DialogFooter>
      </form>
    </Dialog>
  );
}
