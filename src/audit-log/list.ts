import { type Context, readRows } from '../app.ts';
import { type Page, type PageInput, pageOf, pageStatement, rangeConditions, sectionOf } from '../database/list.ts';
import { type Event, Prisma } from '../generated/prisma/client.ts';
import { type DateTimeRange, rangeIssues } from '../input.ts';
import { selectorIssues } from '../user-groups/rules.ts';
import { locate, type UserGroupBy } from '../user-groups/user-groups.ts';
import { type EventReadOptions, type EventType, eventColumns, newestFirst, readableEnvironments, toEvent } from './events.ts';

/** Conditions that must all hold; null counts as omitted. */
export interface EventFilter {
  /** Types of events; none selects nothing. */
  readonly types?: readonly EventType[] | null | undefined;
  /** The group that the events are about. It may be deleted. */
  readonly userGroup?: UserGroupBy | null | undefined;
  /** The number of an API token that made the changes, or that was changed. */
  readonly apiTokenId?: number | null | undefined;
  readonly occurredAt?: DateTimeRange | null | undefined;
}

/** Which events are asked for. */
export interface EventListInput extends PageInput {
  readonly filter?: EventFilter | null | undefined;
}

/**
 * A page of the events that the caller may read, the newest first. Each page is read from the database.
 *
 * @throws Forbidden without `audit:read`, and for a filter by token without `groups:resolve`.
 * @throws InvalidInput, also for a cursor of another list.
 * @throws GatewayError `UNAVAILABLE` when a filtered page takes longer than two seconds, or too many pages wait.
 */
export async function listEvents(
  context: Context,
  { filter, ...input }: EventListInput,
  { withChanges = true }: EventReadOptions = {},
): Promise<Page<Event>> {
  const { types, userGroup, apiTokenId, occurredAt } = filter ?? {};
  context.caller.require('audit:read');
  if (userGroup && 'token' in userGroup) context.caller.require('groups:resolve');
  const ofSelector = userGroup ? selectorIssues(userGroup) : [];
  const issues = [
    ...ofSelector.map(({ path, message }) => ({ path: ['filter', 'userGroup', ...path.slice(1)], message })),
    ...rangeIssues(['filter', 'occurredAt'], occurredAt),
  ];
  const section = sectionOf(input, newestFirst, issues);
  const ofGroup = userGroup && (await groupCondition(context, userGroup));
  const conditions = [
    ...(types ? [isOneOf('type', 'text', [...new Set(types)])] : []),
    ...(ofGroup ? [ofGroup] : []),
    ...rangeConditions('occurred_at', occurredAt),
  ];
  const statement = pageStatement(section, {
    columns: withChanges ? `${eventColumns}, e.changes` : eventColumns,
    table: 'event e',
    parts: partsOf(context, filter ?? {}).map((part) => [...part, ...conditions]),
  });
  // The events of one group come out of an index, as all of them do.
  const isSlow = types != null || apiTokenId != null || occurredAt != null || (userGroup != null && !('teamId' in userGroup));
  return pageOf(section, (await readRows<Event>(context, statement, { isSlow })).map(toEvent));
}

/** A token selects no deleted group. */
async function groupCondition(context: Context, by: UserGroupBy): Promise<Prisma.Sql> {
  if ('teamId' in by) return Prisma.sql`team_id = ${by.teamId}::int`;
  if ('token' in by) {
    const group = await locate(context, by);
    return Prisma.sql`team_id = ${group?.teamId ?? 0}::int`;
  }
  return Prisma.sql`team_id = any (array(
    select team_id from user_group where provided_id = ${by.providedId}::text
    union all select team_id from event where type = 'user_group.deleted' and provided_id = ${by.providedId}::text))`;
}

/** Each part comes out of an index in order: by an API token, of a group, or of an environment. */
function partsOf({ caller }: Context, { userGroup, apiTokenId }: EventFilter): Prisma.Sql[][] {
  const environments = readableEnvironments(caller);
  if (apiTokenId == null && !userGroup) return environments.map((each) => [isOneOf('environment', 'event_environment', [each])]);
  const isReadable = isOneOf('environment', 'event_environment', environments);
  if (apiTokenId == null) return [[isReadable]];
  const isActor = Prisma.sql`actor_api_token_id = ${apiTokenId}::int`;
  const isOnlySubject = Prisma.sql`subject_api_token_id = ${apiTokenId}::int and (${isActor}) is not true`;
  return [
    [isReadable, isActor],
    [isReadable, isOnlySubject],
  ];
}

/** With one value an equality: PostgreSQL then knows that the order of an index stays the same. */
function isOneOf(column: string, type: string, values: readonly string[]): Prisma.Sql {
  const [name, of] = [Prisma.raw(column), Prisma.raw(type)];
  return values.length === 1 ? Prisma.sql`${name} = ${values[0]}::${of}` : Prisma.sql`${name} = any (${values}::${of}[])`;
}
