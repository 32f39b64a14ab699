import { hrefOf, Link } from '../app/router.tsx';
import { Time } from '../ui/time.tsx';
import { EventEnvironments, EventTypes, type WebhookRow, WebhookState } from './labels.tsx';

/** How many types of events a row has. */
const shownTypes = 3;

interface WebhookTableProps {
  readonly rows: readonly WebhookRow[];
  readonly isLoading: boolean;
}

/** A page of webhooks. */
export function WebhookTable({ rows, isLoading }: WebhookTableProps) {
  return (
    <div className="table-frame" aria-busy={isLoading}>
      <table className="table">
        <caption className="visually-hidden">Webhooks</caption>
        <thead>
          <tr>
            <th scope="col">URL</th>
            <th scope="col">Status</th>
            <th scope="col" className="wide-only">
              Types
            </th>
            <th scope="col" className="medium-only">
              Environments
            </th>
            <th scope="col" className="medium-only">
              Last delivery
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.id} className={row.status === 'DISABLED' ? 'inactive' : undefined}>
              <th scope="row">
                <Link className="clamp url" href={hrefOf('webhook', { id: row.id })} title={row.url}>
                  {row.url}
                </Link>
                <span className="below clamp">
                  #{row.number}
                  {row.description !== null && <bdi title={row.description}> {row.description}</bdi>}
                </span>
              </th>
              <td>
                <WebhookState webhook={row} />
              </td>
              <td className="wide-only">
                <EventTypes value={row.types} most={shownTypes} />
              </td>
              <td className="medium-only">
                <EventEnvironments value={row.environments} />
              </td>
              <td className="medium-only">
                {row.lastDeliveryAt ? <Time value={row.lastDeliveryAt} /> : <span className="muted">never</span>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
