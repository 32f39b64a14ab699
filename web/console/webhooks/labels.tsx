import type { EventEnvironment, EventType, WebhookFieldsFragment } from '../graphql/generated.ts';
import { describeEventType } from '../graphql/names.ts';
import { Badge, EnvironmentBadge, environments } from '../ui/badge.tsx';

/** A webhook as the pages have it. */
export type WebhookRow = WebhookFieldsFragment;

/** The environments that events belong to, as people choose them. */
export const eventEnvironments: readonly { readonly value: EventEnvironment; readonly label: string; readonly hint?: string }[] =
  [
    ...environments,
    { value: 'NONE', label: 'None', hint: 'Events of the whole gateway, such as those of keys, imports and webhooks.' },
  ];

/** Whether events are sent to a webhook, and whether they arrive. */
export function WebhookState({ webhook }: { readonly webhook: WebhookRow }) {
  if (webhook.status === 'DISABLED') return <Badge tone="bad">disabled</Badge>;
  return webhook.failingSince === null ? <Badge tone="good">enabled</Badge> : <Badge tone="warn">failing</Badge>;
}

/** The environments whose events a webhook takes. */
export function EventEnvironments({ value }: { readonly value: readonly EventEnvironment[] | null }) {
  if (value === null) return <>All</>;
  return (
    <span className="badges">
      {value.map((environment) =>
        environment === 'NONE' ? (
          <Badge key={environment}>None</Badge>
        ) : (
          <EnvironmentBadge key={environment} tag={environment === 'UNTAGGED' ? null : environment} />
        ),
      )}
    </span>
  );
}

interface EventTypesProps {
  readonly value: readonly EventType[] | null;
  /** How many are shown at most; the others are counted. */
  readonly most?: number;
}

/** The types of events that a webhook takes. */
export function EventTypes({ value, most = Number.POSITIVE_INFINITY }: EventTypesProps) {
  if (value === null) return <>All</>;
  return (
    <span className="scope-list">
      {value.slice(0, most).map((type) => (
        <code key={type}>{describeEventType(type).name}</code>
      ))}
      {value.length > most && <span className="muted">and {value.length - most} more</span>}
    </span>
  );
}

/** What the secret of a webhook is for. */
export const secretUse = 'The endpoint verifies with it that a delivery comes from this gateway, as Standard Webhooks has it.';
