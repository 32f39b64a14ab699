import { between } from '../../database/keyset.ts';
import type { Event, EventEnvironment, Prisma } from '../../generated/prisma/client.ts';
import type { TimeRange } from '../../user-groups/statements/matches.ts';

/** The position of an event in the order of the list: its time, and its number among those of one time. */
export interface EventPosition {
  readonly occurredAt: Date;
  readonly id: bigint;
}

/** Conditions that must all hold; every rule is checked already. */
export interface EventConditions {
  readonly types?: readonly string[] | undefined;
  /** The numbers of groups: each event is about one of them. */
  readonly teamIds?: readonly number[] | undefined;
  /** The API token that the changes were made with. */
  readonly actorApiTokenId?: number | undefined;
  /** The API token that was changed. */
  readonly subjectApiTokenId?: number | undefined;
  readonly occurredAt?: TimeRange | undefined;
}

/** Events of some environments, in order. */
export interface EventQuery {
  readonly environments: readonly EventEnvironment[];
  readonly conditions: EventConditions;
  readonly direction: 'asc' | 'desc';
  /** Positions between which the events are in this direction, both excluded. */
  readonly start?: EventPosition | undefined;
  readonly end?: EventPosition | undefined;
  readonly limit: number;
  /** Whether the changes, up to some hundred KiB each, are read; without them they are null, as by default. */
  readonly withChanges?: boolean | undefined;
}

const withoutChanges = (event: Omit<Event, 'changes'>): Event => ({ ...event, changes: null });

/** What the events are read with: Prisma, or a transaction. */
export type EventReader = Pick<Prisma.TransactionClient, 'event'>;

/**
 * Finds events, in the order that is asked for. Of one environment, of one group, or of one API token they come out of an index
 * in this order, so that a page costs the same wherever it is.
 */
export async function findEvents(reader: EventReader, query: EventQuery): Promise<Event[]> {
  const { environments, conditions, direction, start, end, limit, withChanges } = query;
  const { types, teamIds, actorApiTokenId, subjectApiTokenId, occurredAt } = conditions;
  const page = {
    where: {
      AND: [
        { environment: oneOf(environments) },
        ...(actorApiTokenId === undefined ? [] : [{ actorApiTokenId }]),
        ...(subjectApiTokenId === undefined ? [] : [{ subjectApiTokenId }]),
        ...(types ? [{ type: oneOf(types) }] : []),
        ...(teamIds ? [{ teamId: oneOf(teamIds) }] : []),
        ...(occurredAt ? [{ occurredAt: timeFilter(occurredAt) }] : []),
        ...between({ direction, start, end }),
      ],
    },
    orderBy: [{ occurredAt: direction }, { id: direction }],
    take: limit,
  } satisfies Prisma.EventFindManyArgs;
  if (withChanges) return reader.event.findMany(page);
  return (await reader.event.findMany({ ...page, omit: { changes: true } })).map(withoutChanges);
}

/** With one value an equality: PostgreSQL then knows that the order of an index stays the same. */
const oneOf = <Value>(values: readonly Value[]): Value | { in: Value[] } =>
  values.length === 1 ? (values[0] as Value) : { in: [...values] };

const timeFilter = ({ from, to }: TimeRange): Prisma.DateTimeFilter => ({ ...(from && { gte: from }), ...(to && { lt: to }) });

/** The event at a position; undefined when there is none in these environments. */
export async function findEventAt(
  reader: EventReader,
  environments: readonly EventEnvironment[],
  position: EventPosition,
  withChanges: boolean,
): Promise<Event | undefined> {
  const { occurredAt, id } = position;
  const where = { environment: { in: [...environments] }, occurredAt, id };
  if (withChanges) return (await reader.event.findFirst({ where })) ?? undefined;
  const found = await reader.event.findFirst({ where, omit: { changes: true } });
  return found ? withoutChanges(found) : undefined;
}

/** Deleted groups to find. */
export interface DeletedGroupsQuery {
  /** The environments that may have the event: a group was not always in the one that it was deleted in. */
  readonly environments: readonly EventEnvironment[];
  readonly providedId: string;
  readonly limit: number;
}

/** The numbers of the groups that had a provided id and were deleted, the newest first. */
export async function findDeletedTeamIds(
  reader: Pick<Prisma.TransactionClient, '$queryRaw'>,
  { environments, providedId, limit }: DeletedGroupsQuery,
): Promise<number[]> {
  const readable = [...environments];
  // A group at a time, by the index on groups, until there are enough: not a join, and as text not by the index on environments.
  const rows = await reader.$queryRaw<{ teamId: number }[]>`
    select deleted.team_id as "teamId" from event deleted
    where deleted.type = 'user_group.deleted' and deleted.provided_id = ${providedId}::text and (
      deleted.environment = any (${readable}::event_environment[])
      or (select true from event where event.team_id = deleted.team_id and event.environment::text = any (${readable}::text[]) limit 1))
    order by deleted.team_id desc limit ${limit}::int`;
  return rows.map(({ teamId }) => teamId);
}
