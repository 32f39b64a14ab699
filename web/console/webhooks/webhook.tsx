import { type ReactNode, useEffect, useState } from 'react';
import { mayBeMade } from '../../idempotency-key.ts';
import { hrefOf, isUnsaved, Link, navigate, usePlace } from '../app/router.tsx';
import { payloadOf } from '../graphql/client.ts';
import { SendTestEvent, type WebhookDeliveryStatus, Webhook as WebhookDocument } from '../graphql/generated.ts';
import { useMutation } from '../graphql/use-mutation.ts';
import { useQuery } from '../graphql/use-query.ts';
import { Button } from '../ui/button.tsx';
import { FailureNotice } from '../ui/failure-notice.tsx';
import { useMessage } from '../ui/messages.tsx';
import { pageArguments } from '../ui/pager.tsx';
import { SecretDialog, type ShownSecret } from '../ui/secret-dialog.tsx';
import { EmptyState, LoadingRows } from '../ui/states.tsx';
import { unusedFilter } from '../ui/unused-filters.ts';
import { DeleteWebhook } from './delete-webhook.tsx';
import { Deliveries } from './deliveries.tsx';
import { EditWebhook } from './edit-webhook.tsx';
import { secretUse, type WebhookRow, WebhookState } from './labels.tsx';
import { RotateSecret } from './rotate-secret.tsx';
import { SwitchWebhook } from './switch-webhook.tsx';
import { WebhookFacts, WebhookNotice } from './webhook-facts.tsx';

const pageSize = 20;

/** How long to wait for what is about to be sent, until it is looked up again. */
const sendingMs = 1_000;

/** One webhook, by the id in the URL, with its deliveries. */
export default function Webhook() {
  const { query } = usePlace();
  const id = query.get('id') ?? '';
  return <WebhookById key={id} id={id} query={query} />;
}

function WebhookById({ id, query }: { readonly id: string; readonly query: URLSearchParams }) {
  const [after, before, status] = [query.get('after'), query.get('before'), query.get('status') ?? ''];
  const position = before ? { before } : after ? { after } : {};
  const variables = { id, ...pageArguments(position, pageSize), status: (status || null) as WebhookDeliveryStatus | null };
  const unused = unusedFilter(query, { id, status });
  const { data, isLoading, isOutdated, reload, ...loaded } = useQuery(WebhookDocument, id && !unused ? variables : undefined);
  const failure = unused ?? loaded.failure;
  const webhook = data?.node?.__typename === 'Webhook' ? data.node : undefined;
  const page = data?.webhookDeliveries;
  const isSending =
    webhook?.status === 'ENABLED' &&
    page?.nodes.some((delivery) => delivery.status === 'PENDING' && delivery.attempts === 0) === true;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each response
  useEffect(() => {
    if (!isSending) return;
    const timer = setTimeout(reload, sendingMs);
    return () => clearTimeout(timer);
  }, [data, isSending, reload]);
  const showNewest = () => {
    // Not beside a dialog: with other variables, a failure would leave nothing of the page, nor of a secret that it shows.
    if (!isUnsaved()) navigate(hrefOf('webhook', { id }));
    reload();
  };
  const isUnknown = !id || failure?.issueAt('webhook') !== undefined;
  const notice = (
    <FailureNotice
      title="The webhook could not be loaded"
      failure={isUnknown ? undefined : failure}
      onRetry={reload}
      onReset={() => navigate(hrefOf('webhook', { id }), { discards: true })}
    />
  );
  if (!webhook || !page || unused || isUnknown) {
    return (
      <>
        <Breadcrumb />
        <h1>Webhook</h1>
        {notice}
        {isLoading && <LoadingRows rows={4} />}
        {!isLoading && (isUnknown || !failure) && (
          <EmptyState title="There is no such webhook">
            <p>It was deleted, or the link is not complete.</p>
            <Link href={hrefOf('webhooks')}>All webhooks</Link>
          </EmptyState>
        )}
      </>
    );
  }
  return (
    <>
      <Breadcrumb />
      <Header webhook={webhook} notice={notice} onChanged={reload} onSent={showNewest} />
      {notice}
      <Deliveries
        {...{ webhook, page, status }}
        isFirstPage={!after && !before}
        isLoading={isLoading && !isSending}
        isOutdated={isOutdated}
        onSent={showNewest}
        onReload={reload}
      />
    </>
  );
}

interface HeaderProps {
  readonly webhook: WebhookRow;
  /** Says that the webhook could not be loaded, if so. */
  readonly notice: ReactNode;
  readonly onChanged: () => void;
  /** Called when a test event was sent. */
  readonly onSent: () => void;
}

/** What the webhook is, and what can be done with it. */
function Header({ webhook, notice, onChanged, onSent }: HeaderProps) {
  const showMessage = useMessage();
  const [dialog, setDialog] = useState<'edit' | 'rotate' | 'switch' | 'delete' | ShownSecret>();
  const isEnabled = webhook.status === 'ENABLED';
  const test = useMutation(async (client) => {
    const { data, requestId } = await client.send(SendTestEvent, { id: webhook.id });
    return payloadOf(data.sendTestEvent, requestId);
  });
  const mayBeSent = test.failure !== undefined && mayBeMade(test.failure);
  const sendTest = async () => {
    if (!(await test.run())) return;
    showMessage('A test event is sent');
    onSent();
  };
  const open = (next: 'rotate' | 'switch' | 'delete') => {
    onChanged(); // others may have changed it since, which the dialog says
    setDialog(next);
  };
  const close = () => {
    // Also without a result: a change may have been made all the same.
    onChanged();
    test.reset(); // its failure may be that of the former webhook
    setDialog(undefined);
  };
  return (
    <>
      <header className="page-header">
        <h1>
          <span className="name">Webhook {webhook.number}</span> <WebhookState webhook={webhook} />
        </h1>
        <div className="actions">
          <Button
            variant="primary"
            disabled={!isEnabled}
            isBusy={test.isRunning}
            title={isEnabled ? undefined : 'The webhook is disabled.'}
            onClick={() => void sendTest()}
          >
            Send test event
          </Button>
          <Button onClick={() => setDialog('edit')}>Edit …</Button>
          <Button onClick={() => open('rotate')}>Rotate the secret …</Button>
          <Button onClick={() => open('switch')}>{isEnabled ? 'Disable …' : 'Enable …'}</Button>
          <Button variant="danger" onClick={() => open('delete')}>
            Delete …
          </Button>
        </div>
      </header>
      <FailureNotice
        title={mayBeSent ? 'It is not known whether the test event was sent' : 'The test event was not sent'}
        failure={test.failure}
      />
      <WebhookNotice webhook={webhook} />
      <WebhookFacts webhook={webhook} />
      {dialog === 'edit' && (
        <EditWebhook
          webhook={webhook}
          onClose={close}
          onSaved={() => {
            showMessage('Changed');
            close();
          }}
        />
      )}
      {dialog === 'rotate' && (
        <RotateSecret webhook={webhook} onClose={close} onRotated={setDialog}>
          {notice}
        </RotateSecret>
      )}
      {dialog === 'switch' && (
        <SwitchWebhook webhook={webhook} onClose={close} onSwitched={close}>
          {notice}
        </SwitchWebhook>
      )}
      {dialog === 'delete' && (
        <DeleteWebhook
          webhook={webhook}
          onClose={close}
          onDeleted={() => navigate(hrefOf('webhooks'), { replace: true, discards: true })}
        >
          {notice}
        </DeleteWebhook>
      )}
      {typeof dialog === 'object' && (
        <SecretDialog shown={dialog} owner={`webhook ${webhook.number}`} use={secretUse} onClose={close} />
      )}
    </>
  );
}

function Breadcrumb() {
  return (
    <nav className="breadcrumb" aria-label="Breadcrumb">
      <span aria-hidden="true">←</span> <Link href={hrefOf('webhooks')}>Webhooks</Link>
    </nav>
  );
}
