import type { Caller } from '../caller.ts';
import type { WebhookDelivery } from '../generated/prisma/client.ts';
import type { Services } from '../user-groups/user-groups.ts';
import type { GlobalId } from './body.ts';
import { redeliverEvents, redeliverEventsAfter, sendTestEvent } from './deliveries.ts';
import {
  createWebhook,
  deleteWebhook,
  type IssuedWebhook,
  type ListedWebhook,
  rotateWebhookSecret,
  updateWebhook,
  type WebhookChanges,
  type WebhookRequest,
} from './webhooks.ts';

/** What a caller may do with webhooks. Each operation rejects with `InvalidInput`; all but `create` with `NotFound`. */
export interface WebhookManagement {
  create(request: WebhookRequest): Promise<IssuedWebhook>;
  update(number: number, changes: WebhookChanges): Promise<ListedWebhook>;
  /** @param overlapSeconds how long deliveries are signed with the replaced secret too: 0 to 604800. */
  rotateSecret(number: number, overlapSeconds: number): Promise<IssuedWebhook>;
  delete(number: number): Promise<void>;
  /** Sends an event that is none of the audit log. */
  sendTest(number: number): Promise<WebhookDelivery>;
  /** Sends events again. @param ids the IDs of at most 100 events. */
  redeliver(number: number, ids: readonly string[]): Promise<WebhookDelivery[]>;
  /** Sends every event again that follows a cursor of the feed. */
  redeliverAfter(number: number, cursor: string): Promise<void>;
}

/**
 * The management of webhooks by a caller. The operations are the same as those of the commands.
 *
 * @param globalId makes the IDs that events are sent with.
 * @throws Unauthenticated, Forbidden without `admin`.
 */
export function manageWebhooks(services: Services, caller: Caller, globalId: GlobalId): WebhookManagement {
  caller.require('admin');
  const sending = { ...services, globalId };
  const { author } = caller;
  return {
    create: (request) => createWebhook(services, request, author),
    update: (number, changes) => updateWebhook(services, number, changes, author),
    rotateSecret: (number, overlapSeconds) => rotateWebhookSecret(services, number, overlapSeconds, author),
    delete: (number) => deleteWebhook(services, number, author),
    sendTest: (number) => sendTestEvent(sending, number),
    redeliver: (number, ids) => redeliverEvents(sending, number, ids),
    redeliverAfter: (number, cursor) => redeliverEventsAfter(services, number, cursor),
  };
}
