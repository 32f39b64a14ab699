import { useState } from 'react';
import { hrefOf, Link } from '../app/router.tsx';
import { useSession } from '../app/session.tsx';
import type { EventRowFragment, EventType } from '../graphql/generated.ts';
import { describeEventType } from '../graphql/names.ts';
import { EnvironmentBadge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Time } from '../ui/time.tsx';
import { changesOf, shortName, webhookNumberOf } from './changes.ts';

/** How many changes of an event are shown at first: a mapping may have a thousand. */
const shownChanges = 10;

interface EventListProps {
  readonly events: readonly EventRowFragment[];
  readonly isLoading: boolean;
  /** Whether every event is about the same group, which is then not named again. */
  readonly isOfOneGroup?: boolean;
}

/** Events of the audit log: what happened, who did it, and what changed. */
export function EventList({ events, isLoading, isOfOneGroup = false }: EventListProps) {
  return (
    <ul className="events" aria-busy={isLoading}>
      {events.map((event) => (
        <li key={event.id}>
          <div className="event-head">
            <EventTypeName type={event.type} />
            {!isOfOneGroup && event.environment !== 'NONE' && (
              <EnvironmentBadge tag={event.environment === 'UNTAGGED' ? null : event.environment} />
            )}
            <Time value={event.occurredAt} />
          </div>
          <p className="event-about">
            {!isOfOneGroup && <Subject event={event} />} by <Actor event={event} />
            {event.requestId && (
              <>
                {' '}
                · request <code>{event.requestId}</code>
              </>
            )}
          </p>
          <Changes value={event.changes} />
        </li>
      ))}
    </ul>
  );
}

function EventTypeName({ type }: { readonly type: EventType }) {
  const { name, meaning } = describeEventType(type);
  return <strong title={meaning}>{name}</strong>;
}

/** What the event is about; a link leads to the changes of it. */
function Subject({ event }: { readonly event: EventRowFragment }) {
  const { providedId, userGroupId, apiToken } = event;
  const webhook = webhookNumberOf(event.changes);
  if (webhook !== undefined) return <>Webhook {webhook}</>;
  if (userGroupId) {
    return (
      <>
        Group <Link href={hrefOf('audit-log', { group: userGroupId })}>{providedId}</Link>
      </>
    );
  }
  if (!apiToken) return null;
  return (
    <>
      API token <Link href={hrefOf('audit-log', { token: apiToken.id })}>{apiToken.name}</Link> #{apiToken.number}
    </>
  );
}

function Actor({ event: { actor } }: { readonly event: EventRowFragment }) {
  const { can } = useSession();
  if (actor.kind === 'SYSTEM') return <>the gateway</>;
  const name = <bdi>{actor.name}</bdi>;
  if (actor.kind === 'CLI') return <>{name}, with a command</>;
  if (!actor.apiToken || !can('AUDIT_READ')) return name;
  return (
    <>
      <Link href={hrefOf('audit-log', { token: actor.apiToken.id })}>{actor.name}</Link> #{actor.apiToken.number}
    </>
  );
}

function Changes({ value }: { readonly value: unknown }) {
  const [isWhole, setIsWhole] = useState(false);
  const changes = changesOf(value);
  if (changes.length === 0) return null;
  const shown = isWhole ? changes : changes.slice(0, shownChanges);
  return (
    <>
      <table className="changes">
        <caption className="visually-hidden">What changed</caption>
        <thead>
          <tr>
            <th scope="col">Field</th>
            <th scope="col">Before</th>
            <th scope="col">After</th>
          </tr>
        </thead>
        <tbody>
          {shown.map(({ name, before, after }) => (
            <tr key={name}>
              <th scope="row">{shortName(name)}</th>
              {before === undefined && after === undefined ? (
                <td colSpan={2} className="muted">
                  changed; a secret is not recorded
                </td>
              ) : (
                <>
                  <td className="before">{before !== undefined && <code>{before}</code>}</td>
                  <td className="after">{after !== undefined && <code>{after}</code>}</td>
                </>
              )}
            </tr>
          ))}
        </tbody>
      </table>
      {changes.length > shownChanges && (
        <Button className="small" aria-expanded={isWhole} onClick={() => setIsWhole(!isWhole)}>
          {isWhole ? `Show the first ${shownChanges} changes only` : `Show all ${changes.length.toLocaleString('en')} changes`}
        </Button>
      )}
    </>
  );
}
