import type { Caller } from '../caller.ts';
import type { Pause } from '../concurrency/heavy-work.ts';
import { bigIntColumn, defineKeyset, type KeysetColumn } from '../database/keyset.ts';
import { pageReads } from '../database/page.ts';
import { abandoned, GatewayError, InvalidInput, type Issue } from '../errors.ts';
import type { Event } from '../generated/prisma/client.ts';
import type { Services } from '../user-groups/user-groups.ts';
import { type EventReadOptions, type EventType, readableEnvironments } from './events.ts';
import type { Feed, FeedPage, FeedPosition } from './statements/feed.ts';

/** The limits of the event feed. */
export const feedLimits = {
  /** The events of a page. */
  maxFeedEvents: 100,
  /** How long a request waits for an event, in seconds. */
  maxWaitSeconds: 8,
  /** How many requests of an API token may wait in a process. */
  maxWaitingPerApiToken: 100,
} as const;

/** Where a reader begins who wants no event that is in the feed already. */
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
}

/** The epoch of a position. */
const epochColumn: KeysetColumn<string> = {
  write: (epoch) => epoch,
  read: (part) => (typeof part === 'string' && /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/.test(part) ? part : undefined),
};

const feedKeyset = defineKeyset<FeedPosition>('EventFeed', { epoch: epochColumn, position: bigIntColumn });

/** Waits for events. */
export interface FeedWatch {
  /**
   * Waits until there is an event behind a position, or for so long.
   *
   * @returns whether there is an event, of any environment and type.
   * @throws GatewayError `RATE_LIMITED` when too many requests of the API token wait.
   */
  wait(caller: Caller, position: FeedPosition, milliseconds: number, isAbandoned: () => boolean): Promise<boolean>;
}

/**
 * Reads a part of the event feed: the events that the caller may read, in the order in which the feed has them, which is for each
 * group the order of its changes. No event ever appears behind a cursor that was given out.
 *
 * @param isAbandoned whether the response is no longer needed.
 * @param options `pause` is what it waits for an event in.
 * @throws Forbidden without `audit:read`.
 * @throws InvalidInput, also for a cursor of another list.
 * @throws GatewayError `CURSOR_EXPIRED` when events behind the cursor were removed because of their age, or the database was
 *   restored from a backup or lost events in a failover; `RATE_LIMITED` when too many requests of the API token wait.
 */
export async function readEventFeed(
  { feed, feedWatch }: Pick<Services, 'feed' | 'feedWatch'>,
  caller: Caller,
  input: EventFeedInput,
  isAbandoned: () => boolean = () => false,
  { withChanges = true, pause = (wait) => wait() }: EventReadOptions & { readonly pause?: Pause | undefined } = {},
): Promise<EventFeedPage> {
  caller.require('audit:read');
  const { limit, types, waitSeconds, start } = checkFeedInput(input);
  const endsAtMs = performance.now() + waitSeconds * 1_000;
  const environments = readableEnvironments(caller);
  const readBehind = async (after: FeedPosition | undefined) => {
    const isBehind = await feed.assign();
    const page = await pageReads.run(caller.queueKey, async () => {
      if (isAbandoned()) throw abandoned();
      return feed.read({ environments, types, after, limit, withChanges });
    });
    if (!page) throw cursorExpired();
    return { ...page, hasMore: page.hasMore || isBehind };
  };
  const isOver = ({ events, hasMore }: FeedPage) => events.length > 0 || hasMore || performance.now() >= endsAtMs;
  const first = await readBehind(start === latest ? await endOf(feed, isAbandoned) : start);
  const waitForEvents = async () => {
    let page = first;
    while (!isOver(page) && (await feedWatch.wait(caller, page.through, endsAtMs - performance.now(), isAbandoned)))
      page = await readBehind(page.through);
    if (isAbandoned()) throw abandoned();
    return page;
  };
  const { events, through, hasMore } = isOver(first) ? first : await pause(waitForEvents);
  return { nodes: events, cursor: feedKeyset.cursorOf(through), hasMore };
}

/** The error for a cursor behind which events are no longer there. */
export const cursorExpired = (): GatewayError =>
  new GatewayError(
    'CURSOR_EXPIRED',
    'Events behind the cursor are no longer in the feed: they were removed because of their age, or the database was restored from a backup or lost them in a failover.',
  );

/**
 * The end of the feed. What was committed before is behind it, unless another gateway is just giving it positions: then its
 * reader gets some of it.
 */
async function endOf(feed: Feed, isAbandoned: () => boolean): Promise<FeedPosition> {
  while (await feed.assign()) if (isAbandoned()) throw abandoned();
  const { epoch, lastPosition } = await feed.state();
  return { epoch, position: lastPosition };
}

/**
 * The position of a cursor of the feed.
 *
 * @throws InvalidInput for another text, `latest` too.
 */
export function feedPositionOf(cursor: string): FeedPosition {
  const position = feedKeyset.read(cursor);
  if (!position) throw new InvalidInput([{ path: ['after'], message: 'is not a cursor of the event feed.' }]);
  return position;
}

const notACursor: Issue = {
  path: ['after'],
  message: `is not a cursor of the event feed: send the cursor of the last page as it is, or ${latest}.`,
};

function checkFeedInput({ after, first, types, waitSeconds }: EventFeedInput) {
  const { maxFeedEvents, maxWaitSeconds } = feedLimits;
  const limit = first ?? maxFeedEvents;
  const wait = waitSeconds ?? 0;
  const start = after == null || after === latest ? (after ?? undefined) : feedKeyset.read(after);
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
