import { type Column, columnTypes, createRowClass } from '../../database/columns.ts';
import type { ActorKind, Event, EventEnvironment, Prisma } from '../../generated/prisma/client.ts';

const { integer, text, time } = columnTypes;

const nullable = <Value>({ sql, decode }: Column<Value>): Column<Value | null> => ({
  sql,
  decode: (value) => (value === null ? null : decode(value)),
});

/** The columns of events, of a table or a subquery that is named `e`. */
export const eventColumns = {
  id: { sql: 'e.id', decode: (id) => BigInt(id as string) },
  type: { sql: 'e.type', ...text },
  occurredAt: { sql: 'e.occurred_at', ...time },
  environment: { sql: 'e.environment', decode: (environment) => environment as EventEnvironment },
  actorKind: { sql: 'e.actor_kind', decode: (kind) => kind as ActorKind },
  actorName: { sql: 'e.actor_name', ...text },
  actorApiTokenId: nullable({ sql: 'e.actor_api_token_id', ...integer }),
  requestId: nullable({ sql: 'e.request_id', ...text }),
  teamId: nullable({ sql: 'e.team_id', ...integer }),
  providedId: nullable({ sql: 'e.provided_id', ...text }),
  subjectApiTokenId: nullable({ sql: 'e.subject_api_token_id', ...integer }),
  changes: nullable<Prisma.JsonValue>({ sql: 'e.changes', decode: (changes) => JSON.parse(changes as string) }),
  position: nullable({ sql: 'e.position', decode: (position) => BigInt(position as string) }),
} satisfies { readonly [Field in keyof Event]: Column<Event[Field]> };

/** An event that is made from the values of {@link eventColumns}. */
export const EventRow: new (row: readonly (string | null)[]) => Event = createRowClass(eventColumns);

/** The same with null instead of the changes, up to some hundred KiB each. */
export const eventSummaryColumns = { ...eventColumns, changes: { ...eventColumns.changes, sql: 'null' } };
