import { everyEnvironment } from '../audit-log/events.ts';
import { bindFeed } from '../audit-log/statements/feed.ts';
import type { Database } from '../database/client.ts';
import { draftDelivery, type GlobalId } from './body.ts';
import { addDeliveries, lockSubscription } from './statements/enqueue.ts';

/** How many events get a delivery in one transaction at most. */
const maxEvents = 100;

/**
 * Creates deliveries of the next events that a webhook takes, in the transaction that moves its position: an event has a delivery
 * exactly if it is behind the position. Does nothing while another gateway does so.
 *
 * @returns whether there may be more to create, and whether events were removed because of their age before they had a delivery.
 */
export function enqueueDeliveries(
  database: Pick<Database, 'transaction'>,
  webhookId: number,
  globalId: GlobalId,
): Promise<{ hasMore: boolean; isIncomplete: boolean }> {
  return database.transaction(async (query) => {
    const subscription = await lockSubscription({ query }, webhookId);
    if (!subscription) return { hasMore: false, isIncomplete: false };
    const { types, environments, ...after } = subscription;
    const feed = bindFeed({ query });
    const page = await feed.read({
      environments: environments.length > 0 ? environments : everyEnvironment,
      types: types.length > 0 ? types : undefined,
      after,
      limit: maxEvents,
      withChanges: true,
    });
    const through = page?.through.position ?? (await feed.state()).removedThrough;
    const drafts = page?.events.map((event) => draftDelivery(event, globalId)) ?? [];
    await addDeliveries({ query }, webhookId, through, drafts);
    return { hasMore: page?.hasMore ?? true, isIncomplete: !page };
  });
}
