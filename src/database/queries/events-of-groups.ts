import type { ActorKind, Event, EventEnvironment, Prisma } from '../../generated/prisma/client.ts';
import { createBatchLoader, type Load } from '../batch-loader.ts';
import type { Database } from '../client.ts';
import { type Column, columnTypes, createRowClass, selectList } from './columns.ts';
import type { EventPosition } from './event-pages.ts';

const { integer, text, time } = columnTypes;

const nullable = <Value>({ sql, decode }: Column<Value>): Column<Value | null> => ({
  sql,
  decode: (value) => (value === null ? null : decode(value)),
});

/** The columns of events; of `changes` only where they are read. */
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
} satisfies { readonly [Field in keyof Event]: Column<Event[Field]> };

const EventRow: new (row: readonly (string | null)[]) => Event = createRowClass(columns);

/** Which events of a group are read, the newest first. */
export interface EventsOfGroup {
  readonly teamId: number;
  readonly environments: readonly EventEnvironment[];
  /** Only events before this one; undefined for the newest. */
  readonly start: EventPosition | undefined;
  readonly limit: number;
  /** Whether the changes, up to some hundred KiB each, are read; without them they are null. */
  readonly withChanges: boolean;
}

/** The statements of events that requests share. */
export interface EventStatements {
  /** The newest events of a group. Those of several groups are read in one statement. */
  readonly findOfGroup: Load<EventsOfGroup, Event[]>;
}

/** The most groups in a statement: each may have 100 events. */
const maxGroups = 100;

/** Binds the statements of events to a database. */
export function bindEventStatements({ query }: Pick<Database, 'query'>): EventStatements {
  async function read(teamIds: readonly number[], { environments, start, limit, withChanges }: EventsOfGroup): Promise<Event[]> {
    const values = [teamIds, environments, start?.occurredAt.toISOString(), start?.id, limit];
    const rows = withChanges
      ? await query('events-of-groups', eventsOfGroups, values)
      : await query('events-of-groups-without-changes', eventsWithoutChanges, values);
    return rows.map((row) => new EventRow(row));
  }
  return {
    findOfGroup: createBatchLoader<EventsOfGroup, Event[]>({
      keyOf,
      maxKeys: maxGroups,
      async load(keys) {
        const found = new Map(keys.map((key) => [keyOf(key), [] as Event[]]));
        for (const page of new Map(keys.map((key) => [pageOf(key), key])).values()) {
          const teamIds = keys.filter((key) => pageOf(key) === pageOf(page)).map(({ teamId }) => teamId);
          for (const event of await read(teamIds, page)) {
            found.get(keyOf({ ...page, teamId: event.teamId as number }))?.push(event);
          }
        }
        return found;
      },
    }),
  };
}

const keyOf = (key: EventsOfGroup): string => `${key.teamId} ${pageOf(key)}`;

/** The same text for keys that one statement can read. */
const pageOf = ({ environments, start, limit, withChanges }: EventsOfGroup): string =>
  [environments, start?.occurredAt.getTime(), start?.id, limit, withChanges].join(' ');

/** A group at a time, by the index on groups. Without a position, from beyond the newest. */
const select = (selected: string): string => `
  select ${selected} from unnest($1::int[]) as wanted (team_id) cross join lateral (
    select * from event where event.team_id = wanted.team_id and environment = any ($2::event_environment[])
      and (occurred_at, id) < (coalesce($3::timestamptz, 'infinity'), coalesce($4::bigint, 0))
    order by occurred_at desc, id desc limit $5::int
  ) as e order by e.occurred_at desc, e.id desc`;

const eventsOfGroups = select(selectList(columns));
const eventsWithoutChanges = select(selectList({ ...columns, changes: { ...columns.changes, sql: 'null' } }));
