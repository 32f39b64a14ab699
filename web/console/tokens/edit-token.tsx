import { type FormEvent, useState } from 'react';
import { useSession } from '../app/session.tsx';
import { changesOf } from '../graphql/changes.ts';
import { payloadOf } from '../graphql/client.ts';
import { UpdateApiToken } from '../graphql/generated.ts';
import { useMutation } from '../graphql/use-mutation.ts';
import { Dialog, DialogFields, DialogFooter } from '../ui/dialog.tsx';
import { FailureNotice } from '../ui/failure-notice.tsx';
import { TextField } from '../ui/field.tsx';
import { useMessage } from '../ui/messages.tsx';
import { RateLimitField, rateLimitOf } from './rate-limit-field.tsx';
import type { ApiTokenRow } from './token-table.tsx';

interface EditTokenProps {
  readonly apiToken: ApiTokenRow;
  readonly onClose: () => void;
  readonly onChanged: () => void;
}

/** Changes the name and the rate limit of an API token, and disables or enables it. */
export function EditToken({ apiToken, onClose, onChanged }: EditTokenProps) {
  const { caller } = useSession();
  const showMessage = useMessage();
  const initial = { name: apiToken.name, rateLimit: apiToken.rateLimit?.toString() ?? '', enabled: apiToken.enabled };
  const [name, setName] = useState(initial.name);
  const [rateLimit, setRateLimit] = useState(initial.rateLimit);
  const [enabled, setEnabled] = useState(initial.enabled);
  const { rateLimit: newLimit, ...changes } = changesOf(initial, { name, rateLimit, enabled });
  const isChanged = newLimit !== undefined || Object.keys(changes).length > 0;
  const update = useMutation(async (client) => {
    const input = { id: apiToken.id, ...changes, ...(newLimit !== undefined && { rateLimit: rateLimitOf(newLimit) }) };
    const { data, requestId } = await client.send(UpdateApiToken, { input });
    return payloadOf(data.updateApiToken, requestId);
  });
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!(await update.run())) return;
    showMessage(`Changed ${name}`);
    onChanged();
  };
  return (
    <Dialog title={`Edit ${apiToken.name}`} onClose={onClose} isBusy={update.isRunning}>
      <form onSubmit={(event) => void submit(event)} onInput={update.reset}>
        <FailureNotice title="The API token was not changed" failure={update.failure} />
        <DialogFields isLocked={update.isLocked}>
          <TextField label="Name" error={update.failure?.issueAt('name')} required value={name} onChange={setName} />
          <RateLimitField error={update.failure?.issueAt('rateLimit')} value={rateLimit} onChange={setRateLimit} />
          <label className="check-label">
            <input type="checkbox" checked={enabled} onChange={() => setEnabled(!enabled)} />
            <span>
              Enabled
              <span className="hint">
                Every request with an API token that is not enabled is rejected, until it is enabled again.
              </span>
            </span>
          </label>
          {!enabled && apiToken.id === caller.id && (
            <p className="notice bad">This is the API token that you are signed in with: you will be signed out.</p>
          )}
        </DialogFields>
        <DialogFooter isDisabled={!isChanged}>Save</DialogFooter>
      </form>
    </Dialog>
  );
}
