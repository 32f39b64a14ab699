import { type Context, readInTurn } from '../app.ts';
import { between, type DateTimeRange, type KeysetSection, mergeByKeyset, rangeIssues, sectionOf } from '../database/keyset.ts';
import { cutPage, type Page, type PageInput, pageSizeIssues } from '../database/page.ts';
import { readWithinTime } from '../database/timed-read.ts';
import { InvalidInput, type Issue } from '../errors.ts';
import type { Event, EventEnvironment, Prisma } from '../generated/prisma/client.ts';
import { checkSelector } from '../user-groups/rules.ts';
import type { TimeRange } from '../user-groups/statements/matches.ts';
import { locate, type UserGroupBy } from '../user-groups/user-groups.ts';
import {
  type EventPosition,
  type EventReadOptions,
  type EventType,
  eventKeyset,
  readableEnvironments,
  toEvent,
} from './events.ts';

/** Conditions that must all hold; null counts as omitted. */
export interface EventFilter {
  /** Types of events; none selects nothing. */
  readonly types?: readonly EventType[] | null | undefined;
  /** The group that the events are about; `no group` for a selector that cannot be a group's. It may be deleted. */
  readonly userGroup?: UserGroupBy | 'no group' | null | undefined;
  /** The number of an API token that made the changes, or that was changed; `no API token` for an ID that is not one's. */
  readonly apiTokenId?: number | 'no API token' | null | undefined;
  readonly occurredAt?: DateTimeRange | null | undefined;
}

/** Which events are asked for. */
export interface EventListInput extends PageInput {
  readonly filter?: EventFilter | null | undefined;
}

const notAnApiToken: Issue = { path: ['filter', 'apiTokenId'], message: 'must be the ID of an API token.' };

/** Checks a list's input except its cursors. @throws InvalidInput with every issue, up to ten. */
function checkEventList({ filter, ...page }: EventListInput): void {
  const { userGroup, apiTokenId, occurredAt } = filter ?? {};
  const issues = [
    ...pageSizeIssues(page),
    ...(userGroup != null && userGroup !== 'no group' ? selectorIssues(userGroup) : []),
    ...(apiTokenId === 'no API token' ? [notAnApiToken] : []),
    ...rangeIssues(['filter', 'occurredAt'], occurredAt ?? {}),
  ];
  if (issues.length > 0) throw new InvalidInput(issues);
}

function selectorIssues(by: UserGroupBy): Issue[] {
  try {
    checkSelector(by);
    return [];
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error;
    return error.issues.map((issue) => ({ ...issue, path: ['filter', 'userGroup', ...issue.path.slice(1)] }));
  }
}

/** How many deleted groups with one provided id a filter takes. */
const maxDeletedGroups = 100;

/**
 * A page of the events that the caller may read, the newest first. Each page is read from the database.
 *
 * @throws Forbidden, synchronously, without `audit:read`, and for a filter by token without `groups:resolve`.
 * @throws InvalidInput, synchronously, also for a cursor of another list; by its promise, when more than 100 deleted groups had
 *   the provided id.
 * @throws GatewayError `UNAVAILABLE`, by its promise, when a filtered page takes longer than two seconds, or too many pages wait.
 */
export function listEvents(
  context: Context,
  input: EventListInput,
  { withChanges = true }: EventReadOptions = {},
): Promise<Page<Event>> {
  const { caller } = context;
  caller.require('audit:read');
  const { userGroup } = input.filter ?? {};
  if (typeof userGroup === 'object' && userGroup !== null && 'token' in userGroup) caller.require('groups:resolve');
  checkEventList(input);
  const section = sectionOf(input, { keyset: eventKeyset, direction: 'desc' });
  return readPage({ context, input, section, withChanges });
}

/**
 * A page of the events of a group that the caller may read, the newest first.
 *
 * @throws Forbidden without `audit:read`.
 * @throws InvalidInput, also for a cursor of another list.
 */
export async function listEventsOfGroup(
  context: Context,
  teamId: number,
  input: Pick<PageInput, 'first' | 'after'>,
  { withChanges = true }: EventReadOptions = {},
): Promise<Page<Event>> {
  context.caller.require('audit:read');
  const section = sectionOf(input, { keyset: eventKeyset, direction: 'desc' });
  const { start, limit, direction } = section;
  const conditions = { teamIds: [teamId] };
  const query = { environments: readableEnvironments(context.caller), conditions, start, limit, direction, withChanges };
  return toPage(await readInTurn(context, ({ db }) => findEvents(db, query)), section);
}

const toPage = (found: readonly Event[], section: KeysetSection<EventPosition>): Page<Event> =>
  cutPage({ found, cursorOf: eventKeyset.cursorOf, nodeOf: (event) => event }, section);

/** What is read for one request. */
interface ListRequest {
  readonly context: Context;
  readonly input: EventListInput;
  readonly section: KeysetSection<EventPosition>;
  readonly withChanges: boolean;
}

async function readPage(request: ListRequest): Promise<Page<Event>> {
  const { context, input, section } = request;
  const parts = partsOf(readableEnvironments(context.caller), await conditionsOf(request, input.filter ?? {}));
  return toPage(await readParts(request, parts), section);
}

/** A part of a list: each comes out of an index in order, so that a page is merged from the beginnings of all parts. */
type Part = Pick<EventQuery, 'environments' | 'conditions'>;

/** The conditions of a filter. Both numbers of API tokens are the same: one of the two must hold. */
function partsOf(environments: readonly EventEnvironment[], conditions: EventConditions): Part[] {
  const { actorApiTokenId, subjectApiTokenId, ...rest } = conditions;
  if (rest.types?.length === 0 || rest.teamIds?.length === 0) return [];
  if (actorApiTokenId !== undefined) {
    return [{ actorApiTokenId }, { subjectApiTokenId }].map((either) => ({ environments, conditions: { ...rest, ...either } }));
  }
  if (rest.teamIds) return [{ environments, conditions: rest }];
  return environments.map((environment) => ({ environments: [environment], conditions: rest }));
}

async function readParts(
  { context, input, section, withChanges }: ListRequest,
  parts: readonly Part[],
): Promise<readonly Event[]> {
  const { start, end, limit, direction } = section;
  const query = { start, end, limit, direction, withChanges };
  const reads = parts.map((part) => (reader: EventReader) => findEvents(reader, { ...part, ...query }));
  const isFiltered = Object.values(input.filter ?? {}).some((condition) => condition != null);
  const lists =
    isFiltered && reads.length > 0
      ? await readWithinTime(
          context,
          'events',
          reads.map(
            (read) =>
              ({ db }) =>
                read(db),
          ),
        )
      : await Promise.all(reads.map((read) => readInTurn(context, ({ db }) => read(db))));
  const sorted = mergeByKeyset(lists, eventKeyset, direction);
  // An API token that changed itself is in both parts.
  return sorted.filter((event, index) => event.id !== sorted[index - 1]?.id);
}

async function conditionsOf(
  request: ListRequest,
  { types, userGroup, apiTokenId, occurredAt }: EventFilter,
): Promise<EventConditions> {
  const id = typeof apiTokenId === 'number' ? apiTokenId : undefined; // checked already
  return {
    types: types ? [...new Set(types)] : undefined,
    teamIds: userGroup == null ? undefined : await teamIdsOf(request, userGroup),
    actorApiTokenId: id,
    subjectApiTokenId: id,
    occurredAt:
      occurredAt?.from || occurredAt?.to ? { from: occurredAt.from ?? undefined, to: occurredAt.to ?? undefined } : undefined,
  };
}

/**
 * The groups that a filter selects, deleted ones included. Their events are then read with the caller's rights. A token selects
 * no deleted group.
 */
async function teamIdsOf(request: ListRequest, by: UserGroupBy | 'no group'): Promise<number[]> {
  const { context } = request;
  if (by === 'no group') return [];
  if ('teamId' in by) return [by.teamId];
  if ('token' in by) {
    const group = await locate(context, by);
    return group ? [group.teamId] : [];
  }
  // One after the other: a group that is deleted in between is found by the second.
  const stored = (await context.reads.groupsByProvidedId(by.providedId)) ?? [];
  return [...stored.map(({ teamId }) => teamId), ...(await deletedTeamIds(request, by.providedId))];
}

/** The deleted groups about which the caller may read an event, all of them. @throws InvalidInput when there are too many. */
async function deletedTeamIds({ context }: ListRequest, providedId: string): Promise<number[]> {
  const environments = [...readableEnvironments(context.caller)]; // a group was not always in the one that it was deleted in
  // A group at a time, by the index on groups, until there are enough: not a join, and as text not by the index on environments.
  const [found = []] = await readWithinTime(context, 'events', [
    ({ db }) => db.$queryRaw<{ teamId: number }[]>`
      select deleted.team_id as "teamId" from event deleted
      where deleted.type = 'user_group.deleted' and deleted.provided_id = ${providedId}::text and (
        deleted.environment = any (${environments}::event_environment[])
        or (select true from event where event.team_id = deleted.team_id and event.environment::text = any (${environments}::text[]) limit 1))
      order by deleted.team_id desc limit ${maxDeletedGroups + 1}::int`,
  ]);
  if (found.length <= maxDeletedGroups) return found.map(({ teamId }) => teamId);
  const message =
    `is that of more than ${maxDeletedGroups} deleted groups. Choose one by id: the userGroupId of the events of the type ` +
    'user_group.deleted.';
  throw new InvalidInput([{ path: ['filter', 'userGroup', 'providedId'], message }]);
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

/** What the events are read with: Prisma, or a transaction. */
export type EventReader = Pick<Prisma.TransactionClient, 'event'>;

/**
 * Finds events, in the order that is asked for. Of one environment, of one group, or of one API token they come out of an index
 * in this order, so that a page costs the same wherever it is.
 */
export async function findEvents(reader: EventReader, query: EventQuery): Promise<Event[]> {
  const { environments, conditions, direction, start, end, limit, withChanges } = query;
  const { types, teamIds, actorApiTokenId, subjectApiTokenId, occurredAt } = conditions;
  const found = await reader.event.findMany({
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
    omit: { changes: !withChanges },
  });
  return found.map(toEvent);
}

/** With one value an equality: PostgreSQL then knows that the order of an index stays the same. */
const oneOf = <Value>(values: readonly Value[]): Value | { in: Value[] } =>
  values.length === 1 ? (values[0] as Value) : { in: [...values] };

const timeFilter = ({ from, to }: TimeRange): Prisma.DateTimeFilter => ({ ...(from && { gte: from }), ...(to && { lt: to }) });
