import { type FormEvent, type ReactNode, useState } from 'react';
import { payloadOf } from '../graphql/client.ts';
import { UpdateWebhook } from '../graphql/generated.ts';
import { useMutation } from '../graphql/use-mutation.ts';
import { Dialog, DialogFooter } from '../ui/dialog.tsx';
import { FailureNotice } from '../ui/failure-notice.tsx';
import { useMessage } from '../ui/messages.tsx';
import type { WebhookRow } from './labels.tsx';

interface SwitchWebhookProps {
  readonly webhook: WebhookRow;
  readonly onClose: () => void;
  readonly onSwitched: () => void;
  /** What to say about the webhook as it is shown here. */
  readonly children: ReactNode;
}

/** Disables a webhook, or enables it again. */
export function SwitchWebhook({ webhook, onClose, onSwitched, children }: SwitchWebhookProps) {
  const showMessage = useMessage();
  // As it was when the dialog opened: it may change under it, and the button must not come to mean the opposite.
  const [isEnabled] = useState(webhook.status === 'ENABLED');
  const verb = isEnabled ? 'Disable' : 'Enable';
  const update = useMutation(async (client) => {
    const { data, requestId } = await client.send(UpdateWebhook, { input: { id: webhook.id, enabled: !isEnabled } });
    return payloadOf(data.updateWebhook, requestId);
  });
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!(await update.run())) return;
    showMessage(`${verb}d`);
    onSwitched();
  };
  return (
    <Dialog title={`${verb} webhook ${webhook.number}`} onClose={onClose} isBusy={update.isRunning}>
      <form onSubmit={(event) => void submit(event)}>
        {children}
        {isEnabled ? (
          <p>
            Nothing is sent to <code className="url">{webhook.url}</code> until it is enabled again. Then it gets the events of
            that time, too.
          </p>
        ) : (
          <p>
            What is pending is sent at once (at most 10,000 of the deliveries that wait for another attempt), then the events
            since it was disabled, as far as the audit log still has them. If you do not want these, delete the webhook and create
            another one.
          </p>
        )}
        <FailureNotice title={`The webhook was not ${verb.toLowerCase()}d`} failure={update.failure} />
        <DialogFooter isDangerous={isEnabled}>{verb} the webhook</DialogFooter>
      </form>
    </Dialog>
  );
}
