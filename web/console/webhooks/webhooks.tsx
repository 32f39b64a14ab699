import { useState } from 'react';
import { hrefOf, navigate, usePlace } from '../app/router.tsx';
import { WebhookList } from '../graphql/generated.ts';
import { useQuery } from '../graphql/use-query.ts';
import { Button } from '../ui/button.tsx';
import { FailureNotice } from '../ui/failure-notice.tsx';
import { PlusIcon } from '../ui/icons.tsx';
import { Pager, pageArguments } from '../ui/pager.tsx';
import { SecretDialog, type ShownSecret } from '../ui/secret-dialog.tsx';
import { EmptyState, LoadingRows } from '../ui/states.tsx';
import { unusedFilter } from '../ui/unused-filters.ts';
import { EditWebhook } from './edit-webhook.tsx';
import { secretUse, type WebhookRow } from './labels.tsx';
import { WebhookTable } from './webhook-table.tsx';

const pageSize = 50;

/** The webhooks. */
export default function Webhooks() {
  const { query } = usePlace();
  const [after, before] = [query.get('after'), query.get('before')];
  const position = before ? { before } : after ? { after } : {};
  const unused = unusedFilter(query, {});
  const list = useQuery(WebhookList, unused ? undefined : pageArguments(position, pageSize));
  const [dialog, setDialog] = useState<'create' | { readonly webhook: WebhookRow; readonly shown: ShownSecret }>();
  const page = unused ? undefined : list.data?.webhooks;
  const rows = page?.nodes ?? [];
  const isFirstPage = !after && !before;
  const create = (
    <Button variant="primary" onClick={() => setDialog('create')}>
      <PlusIcon /> New webhook
    </Button>
  );

  return (
    <>
      <header className="page-header">
        <h1>Webhooks</h1>
        {rows.length > 0 && <div className="actions">{create}</div>}
      </header>
      <FailureNotice
        title="The webhooks could not be loaded"
        failure={unused ?? list.failure}
        onRetry={list.reload}
        onReset={() => navigate(hrefOf('webhooks'))}
      />
      {!page && list.isLoading && <LoadingRows rows={5} />}
      {page && rows.length === 0 && !list.isLoading && !list.failure && (
        <EmptyState title={isFirstPage ? 'No webhooks yet' : 'No webhook to show'}>
          <p>
            A webhook sends each change of a group, an API token or a key to a URL of yours as it happens, signed, and tries again
            for about three days if your endpoint does not respond.
          </p>
          <p>{create}</p>
        </EmptyState>
      )}
      {rows.length > 0 && (
        <>
          <WebhookTable rows={rows} isLoading={list.isLoading} />
          <Pager
            pageInfo={page?.pageInfo}
            isFirstPage={isFirstPage}
            isOutdated={list.isOutdated}
            onMove={(next) => navigate(hrefOf('webhooks', { ...next }))}
          >
            {page?.totalCount != null && <span>{page.totalCount === 1 ? '1 webhook' : `${page.totalCount} webhooks`}</span>}
          </Pager>
        </>
      )}
      {dialog === 'create' && (
        <EditWebhook
          onClose={() => {
            // Also without a result: it may have been created all the same.
            list.reload();
            setDialog(undefined);
          }}
          onSaved={(webhook, secret = '') => setDialog({ webhook, shown: { title: 'The webhook was created', secret } })}
        />
      )}
      {typeof dialog === 'object' && (
        <SecretDialog
          shown={dialog.shown}
          owner={`webhook ${dialog.webhook.number}`}
          use={secretUse}
          onClose={() => navigate(hrefOf('webhook', { id: dialog.webhook.id }), { discards: true })}
        />
      )}
    </>
  );
}
