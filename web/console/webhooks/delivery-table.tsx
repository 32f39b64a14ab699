import type { DeliveryFieldsFragment, WebhookDeliveryStatus } from '../graphql/generated.ts';
import { Badge } from '../ui/badge.tsx';
import { Time } from '../ui/time.tsx';

/** A delivery in the list. */
export type DeliveryRow = DeliveryFieldsFragment;

/** Whether its event can be sent again: one that only tests the endpoint is not kept. */
export const isRepeatable = ({ type }: DeliveryRow): boolean => type !== 'webhook.test';

const states = {
  PENDING: { label: 'pending', tone: 'warn' },
  DELIVERED: { label: 'delivered', tone: 'good' },
  FAILED: { label: 'failed', tone: 'bad' },
} as const;

/** What became of a delivery. */
export function DeliveryState({ status }: { readonly status: WebhookDeliveryStatus }) {
  return <Badge tone={states[status].tone}>{states[status].label}</Badge>;
}

interface NextAttemptProps {
  readonly value: string;
  /** Whether the webhook is enabled: nothing is tried while it is not. */
  readonly isEnabled: boolean;
}

/** When a pending delivery is tried. */
export function NextAttempt({ value, isEnabled }: NextAttemptProps) {
  if (!isEnabled) return <span className="muted">once enabled</span>;
  return Date.parse(value) > Date.now() ? <Time value={value} /> : 'due';
}

interface DeliveryTableProps {
  readonly rows: readonly DeliveryRow[];
  /** The ids of those that are selected. */
  readonly selected: ReadonlySet<string>;
  /** Whether the webhook is. */
  readonly isEnabled: boolean;
  readonly isLoading: boolean;
  /** Whether the rows are those of another filter or page: none can be selected. */
  readonly isOutdated: boolean;
  readonly onSelect: (selected: ReadonlySet<string>) => void;
  readonly onOpen: (delivery: DeliveryRow) => void;
}

/** A page of deliveries. */
export function DeliveryTable(props: DeliveryTableProps) {
  const { rows, selected, isEnabled, isLoading, isOutdated, onSelect, onOpen } = props;
  const repeatable = rows.filter(isRepeatable);
  const areAllSelected = repeatable.length > 0 && repeatable.every(({ id }) => selected.has(id));
  const toggle = (id: string) => {
    const next = new Set(selected);
    if (!next.delete(id)) next.add(id);
    onSelect(next);
  };
  return (
    <div className="table-frame" aria-busy={isLoading}>
      <table className="table">
        <caption className="visually-hidden">Deliveries</caption>
        <thead>
          <tr>
            <th scope="col" className="check">
              <input
                type="checkbox"
                aria-label="Select every delivery on this page"
                disabled={isOutdated || repeatable.length === 0}
                checked={areAllSelected}
                onChange={() => onSelect(new Set(areAllSelected ? [] : repeatable.map(({ id }) => id)))}
              />
            </th>
            <th scope="col">Event</th>
            <th scope="col">Status</th>
            <th scope="col" className="wide-only">
              Attempts
            </th>
            <th scope="col" className="medium-only">
              Last response
            </th>
            <th scope="col" className="wide-only">
              Last attempt
            </th>
            <th scope="col" className="medium-only">
              Next attempt
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.id} className={selected.has(row.id) ? 'selected' : undefined}>
              <td className="check">
                {isRepeatable(row) && (
                  <input
                    type="checkbox"
                    aria-label={`Select ${row.type}`}
                    disabled={isOutdated}
                    checked={selected.has(row.id)}
                    onChange={() => toggle(row.id)}
                  />
                )}
              </td>
              <th scope="row">
                <button type="button" className="link-button" aria-label={`Details of ${row.type}`} onClick={() => onOpen(row)}>
                  <code>{row.type}</code>
                </button>
                <div className="below">
                  <Time value={row.createdAt} />
                </div>
              </th>
              <td>
                <DeliveryState status={row.status} />
              </td>
              <td className="wide-only">{row.attempts}</td>
              <td className="medium-only">
                <LastResponse row={row} />
              </td>
              <td className="wide-only">{row.lastAttemptAt ? <Time value={row.lastAttemptAt} /> : <None />}</td>
              <td className="medium-only">
                {row.nextAttemptAt ? <NextAttempt value={row.nextAttemptAt} isEnabled={isEnabled} /> : <None />}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The status of the last response with the beginning of its body, or why there was none. */
function LastResponse({ row: { responseStatus, responseBody, error } }: { readonly row: DeliveryRow }) {
  if (responseStatus === null && error === null) return <None />;
  const text = error ?? responseBody ?? '';
  return (
    <span className="clamp" title={text}>
      {responseStatus !== null && <strong>{responseStatus}</strong>} <bdi>{text.slice(0, 200)}</bdi>
    </span>
  );
}

const None = () => <span className="muted">–</span>;
