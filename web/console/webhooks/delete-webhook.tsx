import { type FormEvent, type ReactNode, useState } from 'react';
import { payloadOf } from '../graphql/client.ts';
import { DeleteWebhook as DeleteWebhookDocument } from '../graphql/generated.ts';
import { useMutation } from '../graphql/use-mutation.ts';
import { Dialog, DialogFooter } from '../ui/dialog.tsx';
import { FailureNotice } from '../ui/failure-notice.tsx';
import { TextField } from '../ui/field.tsx';
import { useMessage } from '../ui/messages.tsx';
import type { WebhookRow } from './labels.tsx';

interface DeleteWebhookProps {
  readonly webhook: WebhookRow;
  readonly onClose: () => void;
  readonly onDeleted: () => void;
  /** What to say about the webhook as it is shown here. */
  readonly children: ReactNode;
}

/** Deletes a webhook, after the person has typed its number. */
export function DeleteWebhook({ webhook, onClose, onDeleted, children }: DeleteWebhookProps) {
  const showMessage = useMessage();
  const [typed, setTyped] = useState('');
  const deletion = useMutation(async (client) => {
    const { data, requestId } = await client.send(DeleteWebhookDocument, { id: webhook.id });
    const payload = payloadOf(data.deleteWebhook, requestId);
    showMessage(`Deleted webhook ${webhook.number}`); // also to a person whose page has noticed it first
    return payload;
  });
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (await deletion.run()) onDeleted();
  };
  return (
    <Dialog title={`Delete webhook ${webhook.number}`} onClose={onClose} isBusy={deletion.isRunning}>
      <form onSubmit={(event) => void submit(event)}>
        {children}
        <p>
          Nothing is sent to <code className="url">{webhook.url}</code> any longer, also not what is pending. The list of its
          deliveries is deleted too. This cannot be undone.
        </p>
        <TextField
          label={`Type its number, ${webhook.number}, to confirm`}
          inputMode="numeric"
          value={typed}
          onChange={setTyped}
        />
        <FailureNotice title="The webhook was not deleted" failure={deletion.failure} />
        <DialogFooter isDangerous isDisabled={typed.trim() !== String(webhook.number)}>
          Delete
        </DialogFooter>
      </form>
    </Dialog>
  );
}
