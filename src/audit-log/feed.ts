import { setTimeout as sleep } from 'node:timers/promises';
import { type Context, readInTurn } from '../app.ts';
import type { Sql } from '../database/client.ts';
import { readCursor, writeCursor } from '../database/list.ts';
import { abandoned, GatewayError, InvalidInput, type Issue } from '../errors.ts';
import type { Event, EventEnvironment } from '../generated/prisma/client.ts';
import { type EventReadOptions, type EventType, eventColumns, readableEnvironments } from './events.ts';

/** The limits of the event feed. */
export const feedLimits = {
  /** The events of a page. */
  maxFeedEvents: 100,
  /** How long a request waits for an event, in seconds. */
  maxWaitSeconds: 8,
} as const;

/** The most events that get a position in one statement, which takes some 10 µs for each. */
const maxAssigned = 1_000;

/** The most events of other types that a page of some types skips. */
const maxScanned = 2_000;

/** The most bytes of changes that a page has, unless its first event has more. */
const maxChangesBytes = 131_072;

/** How often the feed is read while requests wait for an event, in milliseconds. */
const intervalMs = 250;

/** The cursor of a reader who wants no event that is in the feed already. */
const latest = 'latest';

/** Which part of the feed is asked for; null counts as omitted. */
export interface EventFeedInput {
  /** The `cursor` of a page, or `latest`. By default the page begins with the oldest event that is kept. */
  readonly after?: string | null | undefined;
  /** How many events the page has at most: 1 to 100, by default 100. */
  readonly first?: number | null | undefined;
  /** By default every type. */
  readonly types?: readonly EventType[] | null | undefined;
  /** How long to wait for an event if there is none: 0 to 8, by default 0. */
  readonly waitSeconds?: number | null | undefined;
}

/** A part of the feed. */
export interface EventFeedPage {
  /** The oldest first. */
  readonly nodes: readonly Event[];
  /** Where the next page begins, also if this one is empty. */
  readonly cursor: string;
  /** Whether there may be more already: read on at once. */
  readonly hasMore: boolean;
  /** How long it waited for an event. */
  readonly waitedMs: number;
}

/** A place in the feed: behind the event with this position. */
export interface FeedPosition {
  /** The epoch in which the position was given out. The command `restore` begins another one. */
  readonly epoch: string;
  readonly position: bigint;
}

/** The name of the feed in its cursors. */
const feedName = 'EventFeed';

function readPosition(cursor: string): FeedPosition | undefined {
  const [epoch, position] = readCursor(cursor, feedName, ['uuid', 'bigint']) ?? [];
  return epoch === undefined ? undefined : { epoch: epoch as string, position: position as bigint };
}

/** The event feed of a process. */
export interface Feed {
  /** The last position, a quarter of a second later; undefined when waiting is to end. Requests that wait share one look. */
  look(): Promise<bigint | undefined>;
}

/** Creates the feed of a process. @param stopping ends every wait. */
export function createFeed(sql: Sql, stopping: AbortSignal): Feed {
  let next: Promise<bigint | undefined> | undefined;
  const lookLater = async () => {
    await sleep(intervalMs, undefined, { signal: stopping, ref: false }).catch(() => {});
    next = undefined;
    if (stopping.aborted) return undefined;
    await assignPositions(sql);
    return (await readFeedState(sql)).lastPosition;
  };
  return {
    look() {
      next ??= lookLater();
      return next;
    },
  };
}

/**
 * Reads a part of the event feed: the events that the caller may read, those of one group in the order of its changes. No event
 * ever appears behind a cursor that was given out.
 *
 * @throws Forbidden without `audit:read`.
 * @throws InvalidInput, also for a cursor of another list.
 * @throws GatewayError `CURSOR_EXPIRED` when events behind the cursor were removed because of their age, or the database was
 *   restored from a backup.
 */
export async function readEventFeed(
  context: Context,
  input: EventFeedInput,
  { withChanges = true }: EventReadOptions = {},
): Promise<EventFeedPage> {
  const { app, caller, isAbandoned } = context;
  caller.require('audit:read');
  const { limit, types, waitSeconds, start } = checkFeedInput(input);
  const endsAtMs = performance.now() + waitSeconds * 1_000;
  const query = { environments: readableEnvironments(caller), types, limit, withChanges };
  const readBehind = (after: FeedPosition | undefined) =>
    readInTurn(context, async ({ sql }) => {
      const isBehind = await assignPositions(sql);
      const page = await readFeed(sql, { ...query, after });
      if (!page) throw cursorExpired();
      return { ...page, hasMore: page.hasMore || isBehind };
    });
  const isOver = ({ events, hasMore }: FeedPage) => events.length > 0 || hasMore || performance.now() >= endsAtMs;
  const first = await readBehind(start === latest ? await endOf(context.sql, isAbandoned) : start);
  const waitedFromMs = performance.now();
  let page = first;
  while (!isOver(page)) {
    const lastPosition = await app.feed.look();
    if (isAbandoned()) throw abandoned();
    if (lastPosition === undefined) break;
    if (lastPosition > page.through.position) page = await readBehind(page.through);
  }
  const waitedMs = performance.now() - waitedFromMs;
  const { events, through, hasMore } = page;
  return { nodes: events, cursor: writeCursor(feedName, [through.epoch, through.position]), hasMore, waitedMs };
}

/** The error for a cursor behind which events are no longer there. */
export const cursorExpired = (): GatewayError =>
  new GatewayError(
    'CURSOR_EXPIRED',
    'Events behind the cursor are no longer in the feed: they were removed because of their age, or the database was restored from a backup.',
  );

/**
 * The end of the feed. What was committed before is behind it, unless another gateway is just giving it positions: then its
 * reader gets some of it.
 */
async function endOf(sql: Sql, isAbandoned: () => boolean): Promise<FeedPosition> {
  while (await assignPositions(sql)) if (isAbandoned()) throw abandoned();
  const { epoch, lastPosition } = await readFeedState(sql);
  return { epoch, position: lastPosition };
}

/** The position of a cursor of the feed. @throws InvalidInput for another text, `latest` too. */
export function feedPositionOf(cursor: string): FeedPosition {
  const position = readPosition(cursor);
  if (!position) throw new InvalidInput([notACursor]);
  return position;
}

const notACursor: Issue = {
  path: ['after'],
  message: 'is not a cursor of the event feed: send the cursor of a page as it is.',
};

function checkFeedInput({ after, first, types, waitSeconds }: EventFeedInput) {
  const { maxFeedEvents, maxWaitSeconds } = feedLimits;
  const limit = first ?? maxFeedEvents;
  const wait = waitSeconds ?? 0;
  const start = after == null || after === latest ? (after ?? undefined) : readPosition(after);
  const issues: Issue[] = [];
  if (after != null && start === undefined) issues.push(notACursor);
  if (!(limit >= 1 && limit <= maxFeedEvents)) issues.push({ path: ['first'], message: `must be from 1 to ${maxFeedEvents}.` });
  if (types?.length === 0) issues.push({ path: ['types'], message: 'must have at least one type; omit it for all.' });
  if (!(wait >= 0 && wait <= maxWaitSeconds)) {
    issues.push({ path: ['waitSeconds'], message: `must be from 0 to ${maxWaitSeconds}.` });
  }
  if (issues.length > 0) throw new InvalidInput(issues);
  return {
    limit,
    types: types ? [...new Set(types)] : undefined,
    waitSeconds: wait,
    start: start as FeedPosition | typeof latest | undefined,
  };
}

/**
 * Gives events without one a position, in the order of their ids: at most {@link maxAssigned}, by one transaction at a time over
 * all gateways. An event that is committed later gets a later position, so that nothing appears behind a position. While
 * another transaction assigns positions, nothing is done.
 *
 * @returns whether there may be more to assign.
 */
export async function assignPositions(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ count: bigint }>('assign-positions', assign, [maxAssigned]);
  return row?.count === BigInt(maxAssigned);
}

/** The lock on the row of the feed reads its latest values. */
const assign = `
  with feed as materialized (
    select last_position from event_feed where exists (select from event where position is null) for update skip locked
  ), pending as materialized (
    select oldest.*, row_number() over (order by id) as place from (
      select environment, occurred_at, id from event where position is null and exists (select from feed) order by id limit $1::int
      for update skip locked
    ) as oldest
  ), placed as (
    update event e set position = feed.last_position + pending.place from feed, pending
    where (e.environment, e.occurred_at, e.id) = (pending.environment, pending.occurred_at, pending.id)
  ), moved as (
    update event_feed set last_position = feed.last_position + (select count(*) from pending)
    from feed where exists (select from pending)
  )
  select count(*) from pending`;

/** The state of the feed. */
export interface FeedState {
  readonly epoch: string;
  /** The largest position that was assigned. */
  readonly lastPosition: bigint;
  /** The largest position of an event that was removed because of its age. */
  readonly removedThrough: bigint;
}

/** The state of the feed, at a moment. */
export async function readFeedState(sql: Sql): Promise<FeedState> {
  const text = 'select epoch, last_position as "lastPosition", removed_through as "removedThrough" from event_feed';
  const [state] = await sql<FeedState>('read-feed-state', text, []);
  if (!state) throw new Error('The table event_feed has no row.');
  return state;
}

/** Which events of the feed are read. */
export interface FeedQuery {
  readonly environments: readonly EventEnvironment[];
  /** By default of all types. */
  readonly types?: readonly string[] | undefined;
  /** By default from the oldest event. */
  readonly after?: FeedPosition | undefined;
  /** How many events the page has at most. */
  readonly limit: number;
  /** Whether changes are read; without them they are null. */
  readonly withChanges: boolean;
}

/** A part of the feed, the oldest event first. */
export interface FeedPage {
  readonly events: readonly Event[];
  /** Up to where nothing was left out, which is where the next page begins. */
  readonly through: FeedPosition;
  /** Whether more events may follow already. There may be none of the types. */
  readonly hasMore: boolean;
}

/** What each row has besides an event. */
interface PageEnd {
  readonly epoch: string;
  readonly isExpired: boolean;
  /** Up to where events were looked at. */
  readonly through: bigint;
  /** Whether there are more events than the page has. */
  readonly isCut: boolean;
  /** Whether there may be events that were not looked at. */
  readonly isFull: boolean;
}

/** Reads a part of the feed. @returns undefined when events behind the position were removed, or the epoch is another one. */
export async function readFeed(
  sql: Sql,
  { environments, types, after, limit, withChanges }: FeedQuery,
): Promise<FeedPage | undefined> {
  const scanned = types ? Math.max(limit + 1, maxScanned) : limit + 1;
  const values = [environments, types, after?.position, after?.epoch, scanned, limit, maxChangesBytes, withChanges];
  const rows = await sql<Event & PageEnd>('read-feed', read, values);
  const [end] = rows;
  if (!end || end.isExpired) return undefined;
  const { epoch, isCut, isFull, through } = end;
  const events = rows.filter(({ id }) => id !== null);
  const position = (isCut && events.at(-1)?.position) || through;
  return { events, through: { epoch, position }, hasMore: isCut || isFull };
}

/**
 * A row for each event, or one without an event. One statement, so that all of it is of one moment. The page is cut by the size
 * that changes have on the disk, then by their length: to read all of them takes ten times as long if they are large.
 */
const read = `
  with feed as materialized (
    select epoch, last_position, coalesce(removed_through > $3::bigint or epoch <> $4::uuid, false) as is_expired from event_feed
  ), scanned as materialized (
    select next.* from feed, unnest($1::event_environment[]) as each (environment), lateral (
      select environment, occurred_at, id, position, type from event
      where event.environment = each.environment and event.position > coalesce($3::bigint, 0) and not feed.is_expired
      order by event.position limit $5::int
    ) as next order by position limit $5::int
  ), matching as materialized (
    select environment, occurred_at, id from scanned where $2::text[] is null or type = any ($2::text[])
    order by position limit $6::int + 1
  ), stored as materialized (
    select environment, occurred_at, id, sum(pg_column_size(case when $8::bool then changes end)) over
      (order by position rows between unbounded preceding and 1 preceding) as bytes_before
    from matching join event using (environment, occurred_at, id)
  ), sized as materialized (
    select environment, occurred_at, id, row_number() over by_position as number,
      sum(octet_length(case when $8::bool then changes::text end)) over by_position as bytes
    from stored join event using (environment, occurred_at, id) where coalesce(bytes_before, 0) <= $7::int
    window by_position as (order by position)
  ), page as materialized (
    select * from sized where number <= $6::int and (number = 1 or coalesce(bytes, 0) <= $7::int)
  )
  select ${eventColumns}, case when $8::bool then e.changes end as changes, feed.epoch, feed.is_expired as "isExpired",
    (select count(*) from page) < (select count(*) from matching) as "isCut", "isFull",
    case when "isFull" then (select max(position) from scanned) else feed.last_position end as through
  from feed cross join (select count(*) = $5::int as "isFull" from scanned) as scan
    left join (page join event e using (environment, occurred_at, id)) on true order by e.position`;
