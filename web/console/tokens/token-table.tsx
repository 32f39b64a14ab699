import { hrefOf, Link } from '../app/router.tsx';
import { gatewayNow } from '../graphql/clock.ts';
import type { ApiTokenFieldsFragment } from '../graphql/generated.ts';
import { scopeName } from '../graphql/names.ts';
import { Badge, EnvironmentBadge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Time } from '../ui/time.tsx';

/** An API token in the list. */
export type ApiTokenRow = ApiTokenFieldsFragment;

/** From when on an API token is marked because it expires. */
const soonMs = 14 * 86_400_000;

interface TokenTableProps {
  readonly rows: readonly ApiTokenRow[];
  /** The API token that the console uses. */
  readonly ownId: string;
  readonly isLoading: boolean;
  readonly onEdit: (apiToken: ApiTokenRow) => void;
  readonly onRotate: (apiToken: ApiTokenRow) => void;
  readonly onRevoke: (apiToken: ApiTokenRow) => void;
}

/** A page of API tokens. */
export function TokenTable({ rows, ownId, isLoading, onEdit, onRotate, onRevoke }: TokenTableProps) {
  return (
    <div className="table-frame" aria-busy={isLoading}>
      <table className="table">
        <caption className="visually-hidden">API tokens</caption>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Environment</th>
            <th scope="col" className="wide-only">
              Scopes
            </th>
            <th scope="col" className="medium-only">
              Last used
            </th>
            <th scope="col" className="wide-only">
              Expires
            </th>
            <th scope="col">
              <span className="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.id} className={stateOf(row) === 'active' && row.enabled ? undefined : 'inactive'}>
              <th scope="row">
                <span className="token-name" title={row.name}>
                  {row.name}
                </span>{' '}
                <Link className="token-number" href={hrefOf('audit-log', { token: row.id })} title="Its audit log">
                  #{row.number}
                </Link>
                {row.id === ownId && <Badge>in use here</Badge>}
                <State row={row} />
                {row.rateLimit !== null && (
                  <span className="below muted">{row.rateLimit.toLocaleString('en')} requests in 60 s</span>
                )}
                <span className="below narrow-only scope-list">{row.scopes.map(scopeName).join(', ')}</span>
              </th>
              <td>
                <EnvironmentBadge tag={row.environmentTag} />
              </td>
              <td className="wide-only scope-list">
                {row.scopes.map((scope) => (
                  <code key={scope}>{scopeName(scope)}</code>
                ))}
              </td>
              <td className="medium-only">
                {row.lastUsedAt ? <Time value={row.lastUsedAt} /> : <span className="muted">never</span>}
              </td>
              <td className="wide-only">
                {row.expiresAt ? <Time value={row.expiresAt} /> : <span className="muted">never</span>}
              </td>
              <td>
                {stateOf(row) !== 'revoked' && (
                  <div className="row-actions">
                    {stateOf(row) === 'active' && (
                      <>
                        <Button className="small" aria-label={`Edit ${row.name}`} onClick={() => onEdit(row)}>
                          Edit
                        </Button>
                        <Button className="small" aria-label={`Rotate ${row.name}`} onClick={() => onRotate(row)}>
                          Rotate
                        </Button>
                      </>
                    )}
                    <Button className="small" variant="danger" aria-label={`Revoke ${row.name}`} onClick={() => onRevoke(row)}>
                      Revoke
                    </Button>
                  </div>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function State({ row }: { readonly row: ApiTokenRow }) {
  const state = stateOf(row);
  if (state === 'revoked') return <Badge tone="bad">revoked</Badge>;
  if (state === 'expired') return <Badge tone="bad">expired</Badge>;
  if (!row.enabled) return <Badge tone="bad">disabled</Badge>;
  const expiresSoon = row.expiresAt !== null && Date.parse(row.expiresAt) - gatewayNow() < soonMs;
  return expiresSoon ? <Badge tone="warn">expires soon</Badge> : null;
}

function stateOf({ revokedAt, expired }: ApiTokenRow): 'active' | 'revoked' | 'expired' {
  if (revokedAt) return 'revoked';
  return expired ? 'expired' : 'active';
}
