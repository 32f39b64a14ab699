import { createBatchLoader, type Load } from '../../database/batch-loader.ts';
import type { Database } from '../../database/client.ts';
import { columnCount, selectList } from '../../database/columns.ts';
import type { Event, EventEnvironment } from '../../generated/prisma/client.ts';
import { EventRow, eventColumns, eventSummaryColumns } from './columns.ts';
import type { EventPosition } from './pages.ts';

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
          const key = keyOf(keys[Number(row[columnCount(eventColumns)]) - 1] as EventsOfGroup);
          const events = found.get(key);
          if (events) events.push(new EventRow(row));
          else found.set(key, [new EventRow(row)]);
        }
        return found;
      },
    });
  return {
    findOfGroup: loaderOf('events-of-groups', select(eventColumns), maxGroupsWithChanges),
    findSummariesOfGroup: loaderOf('event-summaries-of-groups', select(eventSummaryColumns), maxGroups),
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

/** A group at a time, by the index on groups; then the place in the lists, from 1. */
const select = (selected: typeof eventColumns): string => `
  select ${selectList(selected)}, wanted.position
  from unnest($1::int[], $2::text[], $3::timestamptz[], $4::bigint[], $5::int[]) with ordinality
    as wanted (team_id, environments, occurred_at, id, size, position)
  cross join lateral (
    select * from event where event.team_id = wanted.team_id and (event.occurred_at, event.id) < (wanted.occurred_at, wanted.id)
      and event.environment = any (string_to_array(wanted.environments, ',')::event_environment[])
    order by event.occurred_at desc, event.id desc limit wanted.size
  ) as e order by e.occurred_at desc, e.id desc`;
