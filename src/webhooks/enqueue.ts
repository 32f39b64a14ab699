import { everyEnvironment } from '../audit-log/events.ts';
import { readFeed, readFeedState } from '../audit-log/feed.ts';
import type { Database } from '../database/client.ts';
import { draftDelivery, type GlobalId } from './body.ts';
import { addDeliveries } from './statements/enqueue.ts';
import type { WebhookWork } from './statements/work.ts';

/** How many events get a delivery in one statement at most. */
const maxEvents = 100;

/** What became of the next events of a webhook. */
export interface Enqueued {
  /** Whether deliveries were created. */
  readonly isAny: boolean;
  /** Whether there may be more to create, also because somebody else changed the webhook meanwhile. */
  readonly hasMore: boolean;
  /** Whether events were removed before they had a delivery. */
  readonly isIncomplete: boolean;
}

/**
 * Creates deliveries of the next events that a webhook takes, in the statement that moves its position: an event has a delivery
 * exactly if it is behind the position. Does nothing when another gateway did so since the webhook was read, or is about to.
 */
export async function enqueueDeliveries(
  database: Pick<Database, 'query' | 'sql'>,
  webhook: WebhookWork,
  globalId: GlobalId,
): Promise<Enqueued> {
  const { types, environments, position, epoch } = webhook;
  const page = await readFeed(database.sql, {
    environments: environments.length > 0 ? environments : everyEnvironment,
    types: types.length > 0 ? types : undefined,
    after: { position, epoch },
    limit: maxEvents,
    withChanges: true,
  });
  const through = page?.through.position ?? (await readFeedState(database.sql)).removedThrough;
  const drafts = page?.events.map((event) => draftDelivery(event, globalId)) ?? [];
  const isMoved = await addDeliveries(database, webhook, through, drafts);
  return { isAny: isMoved && drafts.length > 0, hasMore: !isMoved || (page?.hasMore ?? true), isIncomplete: isMoved && !page };
}
