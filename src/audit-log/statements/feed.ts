import { createBatchLoader } from '../../database/batch-loader.ts';
import type { Database } from '../../database/client.ts';
import { columnCount, selectList } from '../../database/columns.ts';
import type { Event, EventEnvironment } from '../../generated/prisma/client.ts';
import { EventRow, eventColumns, eventSummaryColumns } from './columns.ts';

/** The most events that get a position in one statement, which takes some 10 µs for each. */
const maxAssigned = 1_000;

/** The most events of other types that a page of some types skips. */
const maxScanned = 2_000;

/**
 * The most bytes of changes that a page has, unless its first event has more. Every value in them takes at least two, so that a
 * response over GraphQL does not exceed its limit of fields.
 */
const maxChangesBytes = 131_072;

/** A place in the feed: behind the event with this position. */
export interface FeedPosition {
  /** The epoch in which the position was given out. */
  readonly epoch: string;
  readonly position: bigint;
}

/** The state of the feed. */
export interface FeedState {
  readonly epoch: string;
  /** The largest position that was assigned. */
  readonly lastPosition: bigint;
  /** The largest position of an event that was removed because of its age, or that a copy of the database does not have. */
  readonly removedThrough: bigint;
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

/** The statements of the event feed. */
export interface Feed {
  /**
   * Gives events without one a position, in the order of their numbers: at most {@link maxAssigned}, by one transaction at a
   * time over all gateways. An event that is committed later gets a later position, so that nothing appears behind a position.
   *
   * Calls of one turn of the event loop share a statement. While another transaction assigns positions, nothing is done.
   *
   * @returns whether there may be more to assign.
   */
  assign(): Promise<boolean>;
  /** The state of the feed, at a moment. */
  state(): Promise<FeedState>;
  /**
   * Reads a part of the feed.
   *
   * @returns undefined when events after the position were removed, or are not those that its reader has seen.
   */
  read(query: FeedQuery): Promise<FeedPage | undefined>;
}

/**
 * Mends the row of the feed of a database that is a copy: it may be missing, or behind the events and webhooks, and then these
 * would get nothing.
 */
export async function ensureFeed({ query }: Pick<Database, 'query'>): Promise<void> {
  const [row] = await query('check-feed', `select f.last_position < ${largestPosition} from event_feed f`, []);
  if (row?.[0] === 'f') return;
  if (row) await query('reset-feed', `update event_feed f set origin = 'behind' where ${isOwn}`, []);
  else await query('add-feed', 'insert into event_feed default values on conflict do nothing', []);
  await bindFeed({ query }).assign();
}

/** Binds the statements of the event feed to a database. */
export function bindFeed({ query }: Pick<Database, 'query'>): Feed {
  const assign = createBatchLoader<'all', boolean>({
    keyOf: (all) => all,
    maxKeys: 1,
    async load() {
      const [row] = await query('assign-positions', assignPositions, [maxAssigned]);
      return new Map([['all', Number(row?.[0]) === maxAssigned]]);
    },
  });
  return {
    assign: async () => (await assign('all')) === true,
    async state() {
      const [row = []] = await query('feed-state', readState, []);
      const [epoch, lastPosition, removedThrough] = row.map(String) as [string, string, string];
      return { epoch, lastPosition: BigInt(lastPosition), removedThrough: BigInt(removedThrough) };
    },
    async read({ environments, types, after, limit, withChanges }) {
      const [name, text] = withChanges ? ['read-feed', readFeed] : ['read-feed-summaries', readFeedSummaries];
      const scanned = types ? Math.max(limit + 1, maxScanned) : limit + 1;
      const values = [environments, types, after?.position, after?.epoch, scanned, limit, maxChangesBytes];
      const rows = await query(name, text, values);
      const [epoch, through, hasMore, isExpired] = rows[0]?.slice(columnCount(eventColumns)) ?? [];
      if (isExpired === 't') return undefined;
      const events = rows.filter(([id]) => id !== null).map((row) => new EventRow(row));
      return { events, through: { epoch: String(epoch), position: BigInt(String(through)) }, hasMore: hasMore === 't' };
    },
  };
}

/** The run of the server, the database and the table: one of them is another after a restore or a failover. */
const origin = `pg_postmaster_start_time()::text || ' ' || 'event_feed'::regclass::oid::text || ' ' ||
      (select oid from pg_database where datname = current_database())::text`;

const firstPosition = `(
        select min(oldest.position) from unnest(enum_range(null::event_environment)) as each (environment), lateral (
          select position from event where event.environment = each.environment and position is not null order by position limit 1
        ) as oldest)`;

/** Whether the row `f` of the feed was written in this run of this database, and not before, or in one that this is a copy of. */
const isOwn = `f.origin = ${origin}`;

/** The largest position that the row, a former epoch, an event or a webhook has: a copy may have one without the others. */
const largestPosition = `greatest(f.last_position, (select max(last_position) from event_feed_epoch), (select max(position) from webhook), (
        select max(newest.position) from unnest(enum_range(null::event_environment)) as each (environment), lateral (
          select position from event where event.environment = each.environment and position is not null
          order by position desc limit 1
        ) as newest))`;

/** The largest position that was given out. */
const lastPosition = `case when ${isOwn} then f.last_position else ${largestPosition} end`;

/**
 * The largest position of an event that is no longer there. A copy may lack events that a dump has left out: what is before the
 * first one counts as removed.
 */
const removedThrough = `case when ${isOwn} then f.removed_through
        else greatest(f.removed_through, coalesce(${firstPosition} - 1, ${lastPosition})) end`;

const readState = `select epoch, ${lastPosition}, ${removedThrough} from event_feed f`;

/**
 * Whoever holds the row of the feed assigns positions; others do not wait. Its values are those that were committed last, even if
 * the statement began before: then events that have a position meanwhile are left out, and their new positions stay unused. An
 * event that an import is about to replace is not waited for, because everybody else would wait with it.
 *
 * A position that was read must not be given out again after a crash, so the transaction is durable also where others are not.
 */
const assignPositions = `
  with feed as materialized (
    select ${lastPosition} as last_position, epoch, origin, case when current_setting('synchronous_commit') = 'off'
      then set_config('synchronous_commit', 'local', true) end as commits
    from event_feed f where origin <> ${origin} or exists (select from event where position is null) for update of f skip locked
  ), pending as materialized (
    select oldest.*, row_number() over (order by id) as place from (
      select environment, occurred_at, id from event where position is null and exists (select from feed) order by id limit $1::int
      for update skip locked
    ) as oldest
  ), placed as (
    update event e set position = feed.last_position + pending.place from feed, pending
    where (e.environment, e.occurred_at, e.id) = (pending.environment, pending.occurred_at, pending.id)
  ), former as (
    insert into event_feed_epoch (epoch, last_position) select epoch, last_position from feed where origin not in ('', ${origin})
    on conflict do nothing
  ), moved as (
    update event_feed f set
      last_position = feed.last_position + (select count(*) from pending),
      epoch = case when feed.origin in ('', ${origin}) then feed.epoch else gen_random_uuid() end,
      removed_through = ${removedThrough},
      origin = ${origin}
    from feed where exists (select from pending) or feed.origin <> ${origin}
  )
  select (select count(*) from pending), (select commits from feed)`;

/**
 * A row for each event, or one without an event; behind the columns of the event, each has the epoch, up to where nothing was
 * left out, whether more may follow, and whether the position is expired. One statement, so that all of it is of one moment.
 *
 * The next events of each environment come out of an index, and the page is cut from them before changes are read: first by what
 * they take of the disk, which is known without reading them.
 */
const select = (columns: typeof eventColumns): string => `
  with feed as materialized (
    select epoch, ${lastPosition} as last_position,
      coalesce($3::bigint < ${removedThrough} or $3::bigint > case when epoch = $4::uuid then ${lastPosition}
      else (select coalesce(max(former.last_position), -1) from event_feed_epoch former where former.epoch = $4::uuid) end, false) as is_expired
    from event_feed f
  ), scanned as materialized (
    select next.* from feed, unnest($1::event_environment[]) as each (environment), lateral (
      select environment, occurred_at, id, position, type from event
      where event.environment = each.environment and event.position > coalesce($3::bigint, 0) and not feed.is_expired
      order by event.position limit $5::int
    ) as next order by position limit $5::int
  ), matching as materialized (
    select * from scanned where $2::text[] is null or type = any ($2::text[]) order by position limit $6::int + 1
  ), sized as materialized (
    select m.position, ${columns.changes.sql} as changes,
      sum(coalesce(pg_column_size(${columns.changes.sql}), 0)) over (order by m.position rows between unbounded preceding and 1 preceding) as stored
    from matching m join event e on (e.environment, e.occurred_at, e.id) = (m.environment, m.occurred_at, m.id)
  ), page as materialized (
    select position, row_number() over by_position as number, sum(coalesce(octet_length(changes::text), 0)) over by_position as bytes
    from sized where stored is null or stored <= $7::int window by_position as (order by position)
  ), cut as materialized (
    select * from page join matching using (position) where number <= $6::int and (number = 1 or bytes <= $7::int)
  ), ending as (
    select case when is_cut then (select max(position) from cut) when is_full then (select max(position) from scanned)
      else (select last_position from feed) end as through, is_cut or is_full as has_more
    from (select (select count(*) from cut) < (select count(*) from matching), (select count(*) from scanned) = $5::int) as ends (is_cut, is_full)
  )
  select ${selectList(columns)}, feed.epoch, ending.through, ending.has_more, feed.is_expired
  from feed cross join ending left join (cut join event e using (environment, occurred_at, id)) on true order by cut.position`;

const readFeed = select(eventColumns);
const readFeedSummaries = select(eventSummaryColumns);
