import { useState } from 'react';
import { hrefOf, navigate, usePlace } from '../app/router.tsx';
import { useSession } from '../app/session.tsx';
import { ApiTokenList } from '../graphql/generated.ts';
import { useQuery } from '../graphql/use-query.ts';
import { Button } from '../ui/button.tsx';
import { FailureNotice } from '../ui/failure-notice.tsx';
import { PlusIcon } from '../ui/icons.tsx';
import { Pager, pageArguments } from '../ui/pager.tsx';
import { SecretDialog, type ShownSecret } from '../ui/secret-dialog.tsx';
import { EmptyState, LoadingRows } from '../ui/states.tsx';
import { unusedFilter } from '../ui/unused-filters.ts';
import { CreateToken } from './create-token.tsx';
import { EditToken } from './edit-token.tsx';
import { RevokeToken } from './revoke-token.tsx';
import { RotateToken } from './rotate-token.tsx';
import { type ApiTokenRow, TokenTable } from './token-table.tsx';

const pageSize = 50;

type OpenDialog =
  | { readonly is: 'create' }
  | { readonly is: 'edit' | 'rotate' | 'revoke'; readonly apiToken: ApiTokenRow }
  | ({ readonly is: 'secret' } & ShownTokenSecret);

/** The secret of an API token. */
export interface ShownTokenSecret extends ShownSecret {
  readonly apiToken: ApiTokenRow;
}

/** The API tokens of every environment. */
export default function ApiTokens() {
  const { query } = usePlace();
  const { caller } = useSession();
  const [after, before] = [query.get('after'), query.get('before')];
  const includeRevoked = query.get('revoked') === 'true';
  const position = before ? { before } : after ? { after } : {};
  const unused = unusedFilter(query, { revoked: includeRevoked ? 'true' : '' });
  const list = useQuery(ApiTokenList, unused ? undefined : { ...pageArguments(position, pageSize), includeRevoked });
  const [dialog, setDialog] = useState<OpenDialog>();
  const page = unused ? undefined : list.data?.apiTokens;
  const rows = page?.nodes ?? [];
  const close = () => {
    // Also without a result: a change may have been made all the same.
    list.reload();
    setDialog(undefined);
  };
  /** The API token as the list has it now; undefined if the list is not up to date, or has it on another page. */
  const latest = ({ id }: ApiTokenRow) => (list.isLoading || list.failure ? undefined : rows.find((row) => row.id === id));
  const showSecret = (shown: ShownTokenSecret) => setDialog({ is: 'secret', ...shown });

  return (
    <>
      <header className="page-header">
        <h1>API tokens</h1>
        <div className="actions">
          <Button variant="primary" onClick={() => setDialog({ is: 'create' })}>
            <PlusIcon /> New API token
          </Button>
        </div>
      </header>
      <div className="filters">
        <label className="check-label">
          <input
            type="checkbox"
            checked={includeRevoked}
            onChange={(event) => navigate(hrefOf('api-tokens', { revoked: event.target.checked ? 'true' : '' }))}
          />
          <span>Show revoked API tokens</span>
        </label>
      </div>
      <FailureNotice
        title="The API tokens could not be loaded"
        failure={unused ?? list.failure}
        onRetry={list.reload}
        onReset={() => navigate(hrefOf('api-tokens'))}
      />
      {!page && list.isLoading && <LoadingRows rows={5} />}
      {page && rows.length === 0 && !list.isLoading && (
        <EmptyState title="No API token to show">
          <p>Every API token is revoked, or on another page.</p>
        </EmptyState>
      )}
      {rows.length > 0 && (
        <>
          <TokenTable
            rows={rows}
            ownId={caller.id}
            isLoading={list.isLoading}
            onEdit={(apiToken) => setDialog({ is: 'edit', apiToken })}
            onRotate={(apiToken) => setDialog({ is: 'rotate', apiToken })}
            onRevoke={(apiToken) => {
              list.reload(); // it may have been used since, which the dialog says
              setDialog({ is: 'revoke', apiToken });
            }}
          />
          <Pager
            pageInfo={page?.pageInfo}
            isFirstPage={!after && !before}
            isOutdated={list.isOutdated}
            onMove={(next) => navigate(hrefOf('api-tokens', { ...next, revoked: includeRevoked ? 'true' : '' }))}
          >
            {page?.totalCount != null && (
              <span>{page.totalCount === 1 ? '1 API token' : `${page.totalCount.toLocaleString('en')} API tokens`}</span>
            )}
          </Pager>
        </>
      )}
      {dialog?.is === 'create' && <CreateToken onClose={close} onCreated={showSecret} />}
      {dialog?.is === 'edit' && <EditToken apiToken={dialog.apiToken} onClose={close} onChanged={close} />}
      {dialog?.is === 'rotate' && <RotateToken apiToken={dialog.apiToken} onClose={close} onRotated={showSecret} />}
      {dialog?.is === 'revoke' && (
        <RevokeToken apiToken={dialog.apiToken} latest={latest(dialog.apiToken)} onClose={close} onRevoked={close} />
      )}
      {dialog?.is === 'secret' && (
        <SecretDialog
          shown={dialog}
          owner={dialog.apiToken.name}
          use={
            <>
              A caller sends it as <code>Authorization: Token …</code>.
            </>
          }
          onClose={close}
        />
      )}
    </>
  );
}
