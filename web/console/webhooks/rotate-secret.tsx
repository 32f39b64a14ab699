import { type FormEvent, type ReactNode, useState } from 'react';
import { payloadOf } from '../graphql/client.ts';
import { RotateWebhookSecret } from '../graphql/generated.ts';
import { useMutation } from '../graphql/use-mutation.ts';
import { Dialog, DialogFields, DialogFooter } from '../ui/dialog.tsx';
import { type Overlap, overlaps } from '../ui/durations.ts';
import { FailureNotice } from '../ui/failure-notice.tsx';
import { SelectField } from '../ui/field.tsx';
import type { ShownSecret } from '../ui/secret-dialog.tsx';
import type { WebhookRow } from './labels.tsx';

interface RotateSecretProps {
  readonly webhook: WebhookRow;
  readonly onClose: () => void;
  readonly onRotated: (shown: ShownSecret) => void;
  /** What to say about the webhook as it is shown here. */
  readonly children: ReactNode;
}

/** Asks how the secret of a webhook is replaced, and replaces it. */
export function RotateSecret({ webhook, onClose, onRotated, children }: RotateSecretProps) {
  const [overlap, setOverlap] = useState<Overlap>('86400');
  const rotation = useMutation(async (client) => {
    const input = { id: webhook.id, overlapSeconds: Number(overlap) };
    const { data, requestId } = await client.send(RotateWebhookSecret, { input });
    return payloadOf(data.rotateWebhookSecret, requestId);
  });
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const result = await rotation.run();
    if (!result) return;
    const duration = overlaps.find(({ value }) => value === overlap)?.label.toLowerCase();
    const note =
      overlap === '0'
        ? 'Deliveries are no longer signed with the previous secret.'
        : `Deliveries are also signed with the previous secret ${duration}.`;
    onRotated({ title: 'The secret was replaced', secret: result.secret, note });
  };
  return (
    <Dialog title={`Rotate the secret of webhook ${webhook.number}`} onClose={onClose} isBusy={rotation.isRunning}>
      <form onSubmit={(event) => void submit(event)}>
        {children}
        <p>
          It gets a new secret. As long as the current one still works, each delivery has two signatures, and the endpoint accepts
          it with either secret.
        </p>
        {webhook.previousSecretEndsAt !== null && (
          <p className="notice">The secret that was replaced before this one stops working at once.</p>
        )}
        <DialogFields isLocked={rotation.isLocked}>
          <SelectField
            label="How long does the current secret still work?"
            value={overlap}
            options={overlaps}
            onChange={setOverlap}
          />
        </DialogFields>
        <FailureNotice title="The secret was not replaced" failure={rotation.failure} />
        <DialogFooter>Replace the secret</DialogFooter>
      </form>
    </Dialog>
  );
}
