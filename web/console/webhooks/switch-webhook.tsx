import type { FormEvent } from 'react';
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
}

/** Disables a webhook, or enables it again. */
export function SwitchWebhook({ webhook, onClose, onSwitched }: SwitchWebhookProps) {
  const showMessage = useMessage();
  const isEnabled = webhook.status === 'ENABLED';
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
        {isEnabled ? (
          <p>Nothing is sent to it until it is enabled again. It does not get the events of that time afterwards.</p>
        ) : (
          <>
            <p>What is pending is sent at once, and so are the events from now on.</p>
            <p>
              The events since it was disabled are not sent. To send them too, call <code>redeliverEvents</code> with the cursor
              of the event feed that your system has reached.
            </p>
          </>
        )}
        <FailureNotice title={`The webhook was not ${verb.toLowerCase()}d`} failure={update.failure} />
        <DialogFooter isDangerous={isEnabled}>{verb} the webhook</DialogFooter>
      </form>
    </Dialog>
  );
}
