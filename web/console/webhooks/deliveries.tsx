import { useState } from 'react';
import { hrefOf, navigate } from '../app/router.tsx';
import { payloadOf } from '../graphql/client.ts';
import { RedeliverEvents, type WebhookQuery } from '../graphql/generated.ts';
import { useMutation } from '../graphql/use-mutation.ts';
import { Button } from '../ui/button.tsx';
import { FailureNotice } from '../ui/failure-notice.tsx';
import { SelectField } from '../ui/field.tsx';
import { useMessage } from '../ui/messages.tsx';
import { Pager } from '../ui/pager.tsx';
import { EmptyState } from '../ui/states.tsx';
import { DeliveryDialog } from './delivery-dialog.tsx';
import { type DeliveryRow, DeliveryTable } from './delivery-table.tsx';
import type { WebhookRow } from './labels.tsx';

const statuses = [
  { value: '', label: 'Every status' },
  { value: 'PENDING', label: 'Pending' },
  { value: 'DELIVERED', label: 'Delivered' },
  { value: 'FAILED', label: 'Failed' },
] as const;

interface DeliveriesProps {
  readonly webhook: WebhookRow;
  readonly page: NonNullable<WebhookQuery['webhookDeliveries']>;
  /** The status that the list is filtered by; empty for every one. */
  readonly status: string;
  readonly isFirstPage: boolean;
  readonly isLoading: boolean;
  /** Whether the page is that of another filter or position. */
  readonly isOutdated: boolean;
  /** Shows the newest deliveries, after something is sent. */
  readonly onSent: () => void;
  readonly onReload: () => void;
}

/** What was sent to a webhook and what is to be sent, the newest first. */
export function Deliveries(props: DeliveriesProps) {
  const { webhook, page, status, isFirstPage, isLoading, isOutdated, onSent, onReload } = props;
  const showMessage = useMessage();
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [opened, setOpened] = useState<DeliveryRow>();
  const redelivery = useMutation(async (client, ids: readonly string[]) => {
    const { data, requestId } = await client.send(RedeliverEvents, { webhook: webhook.id, ids });
    return payloadOf(data.redeliverEvents, requestId);
  });
  const rows = page.nodes;
  // What is selected and no longer shown is not sent.
  const chosen = rows.filter(({ id }) => selected.has(id));
  const listed = rows.find(({ id }) => id === opened?.id);
  const isEnabled = webhook.status === 'ENABLED';
  const redeliver = async (deliveries: readonly DeliveryRow[]) => {
    setOpened(undefined);
    const ids = [...new Set(deliveries.map(({ eventId }) => eventId))];
    if (!(await redelivery.run(ids))) return;
    showMessage(ids.length === 1 ? 'The event is sent again' : `${ids.length} events are sent again`);
    setSelected(new Set());
    onSent();
  };
  return (
    <>
      <h2>Deliveries</h2>
      <div className="filters bottom">
        <SelectField
          label="Status"
          value={status}
          options={statuses}
          onChange={(value) => navigate(hrefOf('webhook', { id: webhook.id, status: value }), { discards: true })}
        />
        <Button onClick={onReload}>Refresh</Button>
      </div>
      <FailureNotice title="The events were not sent again" failure={redelivery.failure} />
      {chosen.length > 0 && (
        <section className="selection" aria-label="Selected deliveries">
          <span role="status">{chosen.length} selected</span>
          <Button
            className="small"
            disabled={!isEnabled || isOutdated}
            isBusy={redelivery.isRunning}
            title={isEnabled ? undefined : 'The webhook is disabled.'}
            onClick={() => void redeliver(chosen)}
          >
            Redeliver
          </Button>
          <Button className="small" variant="quiet" onClick={() => setSelected(new Set())}>
            Clear the selection
          </Button>
        </section>
      )}
      {rows.length === 0 && !isLoading && (
        <EmptyState title={status || !isFirstPage ? 'No delivery matches' : 'Nothing was sent yet'}>
          <p>{emptyText(status !== '' || !isFirstPage, isEnabled)}</p>
        </EmptyState>
      )}
      {rows.length > 0 && (
        <>
          <DeliveryTable {...{ rows, selected, isEnabled, isLoading, isOutdated }} onSelect={setSelected} onOpen={setOpened} />
          <Pager
            pageInfo={page.pageInfo}
            isFirstPage={isFirstPage}
            isOutdated={isOutdated}
            onMove={(next) => navigate(hrefOf('webhook', { id: webhook.id, status, ...next }), { discards: true })}
          />
        </>
      )}
      {opened && (
        <DeliveryDialog
          delivery={listed ?? opened}
          isListed={listed !== undefined}
          isEnabled={isEnabled}
          isBusy={redelivery.isRunning}
          onClose={() => setOpened(undefined)}
          onRedeliver={() => void redeliver([opened])}
        />
      )}
    </>
  );
}

function emptyText(isFiltered: boolean, isEnabled: boolean): string {
  if (isFiltered) return 'Deliveries that are not pending are kept for 30 days.';
  if (!isEnabled) return 'Nothing is sent while the webhook is disabled.';
  return 'Each event that the webhook takes appears here within seconds. To try it out, send a test event.';
}
