import { createBatchLoader, type Load } from '../../database/batch-loader.ts';
import type { Database } from '../../database/client.ts';
import { type Column, columnCount, columnTypes, createRowClass, selectList } from '../../database/columns.ts';
import type { ActorKind, Event, EventEnvironment, Prisma } from '../../generated/prisma/client.ts';
import type { EventPosition } from './pages.ts';

const { integer, text, time } = columnTypes;

const nullable = <Value>({ sql, decode }: Column<Value>): Column<Value | null> => ({
  sql,
  decode: (value) => (value === null ? null : decode(value)),
});

/** The columns of events. */
const columns = {
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

const EventRow: new (row: readonly (string | null)[]) => Event = createRowClass(columns);

/** Which events of a group are read, the newest first. */
export interface EventsOfGroup {
  readonly teamId: number;
  readonly environments: readonly EventEnvironment[];
  /** Only events before this one; undefined for the newest. */
  readonly start: EventPosition | undefined;
  readonly limit: number;
}

/** The statements of events that requests share. */
export interface EventStatements {
  /** The newest events of a group; undefined if there are none. Those of several groups are read in one statement. */
  readonly findOfGroup: Load<EventsOfGroup, Event[]>;
  /** The same with null instead of the changes. */
  readonly findSummariesOfGroup: Load<EventsOfGroup, Event[]>;
}

/** The most groups in a statement, with up to 101 events each; fewer where changes are read, some hundred KiB each at most. */
const maxGroups = 100;
const maxGroupsWithChanges = 10;

/** Binds the statements of events to a database. */
export function bindEventStatements({ query }: Pick<Database, 'query'>): EventStatements {
  const loaderOf = (name: string, text: string, maxKeys: number) =>
    createBatchLoader<EventsOfGroup, Event[]>({
      keyOf,
      maxKeys,
      async load(keys) {
        const found = new Map<string, Event[]>();
        for (const row of await query(name, text, valuesOf(keys))) {
          const key = keyOf(keys[Number(row[columnCount(columns)]) - 1] as EventsOfGroup);
          const events = found.get(key);
          if (events) events.push(new EventRow(row));
          else found.set(key, [new EventRow(row)]);
        }
        return found;
      },
    });
  return {
    findOfGroup: loaderOf('events-of-groups', select(columns), maxGroupsWithChanges),
    findSummariesOfGroup: loaderOf('event-summaries-of-groups', select(summaryColumns), maxGroups),
  };
}

const keyOf = ({ teamId, environments, start, limit }: EventsOfGroup): string =>
  [teamId, environments, start?.occurredAt.getTime(), start?.id, limit].join(' ');

const valuesOf = (keys: readonly EventsOfGroup[]): unknown[] => [
  keys.map(({ teamId }) => teamId),
  keys.map(({ environments }) => environments.join()), // a list: PostgreSQL has no lists of lists
  keys.map(({ start }) => start?.occurredAt.toISOString() ?? 'infinity'),
  keys.map(({ start }) => start?.id ?? 0n),
  keys.map(({ limit }) => limit),
];

const summaryColumns = { ...columns, changes: { ...columns.changes, sql: 'null' } };

/** A group at a time, by the index on groups; then the place in the lists, from 1. */
const select = (selected: typeof columns): string => `
  select ${selectList(selected)}, wanted.position
  from unnest($1::int[], $2::text[], $3::timestamptz[], $4::bigint[], $5::int[]) with ordinality
    as wanted (team_id, environments, occurred_at, id, size, position)
  cross join lateral (
    select * from event where event.team_id = wanted.team_id and (event.occurred_at, event.id) < (wanted.occurred_at, wanted.id)
      and event.environment = any (string_to_array(wanted.environments, ',')::event_environment[])
    order by event.occurred_at desc, event.id desc limit wanted.size
  ) as e order by e.occurred_at desc, e.id desc`;
