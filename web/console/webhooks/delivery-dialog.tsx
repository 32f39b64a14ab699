import type { ReactNode } from 'react';
import { Button } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Time } from '../ui/time.tsx';
import { type DeliveryRow, DeliveryState, isRepeatable, NextAttempt } from './delivery-table.tsx';

interface DeliveryDialogProps {
  readonly delivery: DeliveryRow;
  /** Whether the list that was loaded last has it. */
  readonly isListed: boolean;
  /** Whether the webhook is. */
  readonly isEnabled: boolean;
  /** Whether an event is being sent again. */
  readonly isBusy: boolean;
  readonly onClose: () => void;
  /** Sends its event again. */
  readonly onRedeliver: () => void;
}

/** What was sent, and what the endpoint responded. */
export function DeliveryDialog({ delivery, isListed, isEnabled, isBusy, onClose, onRedeliver }: DeliveryDialogProps) {
  const { type, eventId, status, attempts, createdAt, lastAttemptAt, nextAttemptAt } = delivery;
  const { body, responseStatus, responseBody, error } = delivery;
  return (
    <Dialog title={`Delivery of ${type}`} onClose={onClose}>
      {!isListed && <p>The list no longer shows it, and its state may have changed since.</p>}
      <dl className="facts">
        <Fact name="Status">
          <DeliveryState status={status} />
        </Fact>
        <Fact name="Attempts">{attempts}</Fact>
        <Fact name="Created">
          <Time value={createdAt} isExact />
        </Fact>
        {lastAttemptAt !== null && (
          <Fact name="Last attempt">
            <Time value={lastAttemptAt} isExact />
          </Fact>
        )}
        {nextAttemptAt !== null && (
          <Fact name="Next attempt">
            <NextAttempt value={nextAttemptAt} isEnabled={isEnabled} />
          </Fact>
        )}
        <Fact name="Header webhook-id">
          <code>{eventId}</code>
          <CopyButton text={eventId} label="Copy the webhook-id" />
        </Fact>
      </dl>
      <h3>Sent</h3>
      <pre className="wrapped">{indented(body)}</pre>
      {responseStatus !== null && (
        <>
          <h3>Response {responseStatus}</h3>
          {responseBody ? <pre className="wrapped">{responseBody}</pre> : <p className="muted">It had no body.</p>}
        </>
      )}
      {error !== null && (
        <>
          <h3>No response</h3>
          <p>
            <bdi>{error}</bdi>
          </p>
        </>
      )}
      <footer className="dialog-footer">
        <Button onClick={onClose}>Close</Button>
        {isEnabled && isRepeatable(delivery) && (
          <Button variant="primary" isBusy={isBusy} onClick={onRedeliver}>
            Redeliver
          </Button>
        )}
      </footer>
    </Dialog>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** JSON in lines; a text that is none as it is. */
function indented(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}
