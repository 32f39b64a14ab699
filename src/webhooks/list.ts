import { type Context, readInTurn } from '../app.ts';
import { byId, type CountedPage, type ListOrder, type Page, type PageInput, pageOf, sectionOf } from '../database/list.ts';
import type { WebhookDelivery, WebhookDeliveryStatus } from '../generated/prisma/client.ts';
import { type ListedWebhook, unlisted } from './webhooks.ts';

const newestFirst = (name: string, type: string): ListOrder => ({
  name,
  direction: 'desc',
  by: [{ field: 'id', sql: 'id', type }],
});
const webhookOrder = newestFirst('Webhook', 'int');
const deliveryOrder = newestFirst('WebhookDelivery', 'bigint');

/**
 * A page of the webhooks, the newest first.
 *
 * @throws Forbidden without `admin`.
 * @throws InvalidInput, also for a cursor of another list.
 */
export async function listWebhooks(context: Context, input: PageInput): Promise<CountedPage<ListedWebhook>> {
  context.caller.require('admin');
  const section = sectionOf(input, webhookOrder);
  const found = await readInTurn(context, ({ db }) => db.webhook.findMany({ ...byId<number>(section), omit: unlisted }));
  return { ...pageOf(section, found), totalCount: () => readInTurn(context, ({ db }) => db.webhook.count()) };
}

/** The webhook with this number; undefined when there is none. @throws Forbidden without `admin`. */
export async function findWebhook(context: Context, id: number): Promise<ListedWebhook | undefined> {
  context.caller.require('admin');
  return (await readInTurn(context, ({ db }) => db.webhook.findUnique({ where: { id }, omit: unlisted }))) ?? undefined;
}

/** Which deliveries are listed. */
export interface DeliveryPageInput extends PageInput {
  /** Only those with this status. */
  readonly status?: WebhookDeliveryStatus | null | undefined;
}

/**
 * A page of the deliveries of a webhook, the newest first; without any if there is no such webhook.
 *
 * @throws Forbidden without `admin`.
 * @throws InvalidInput, also for a cursor of another list.
 */
export async function listDeliveries(
  context: Context,
  webhookId: number,
  { status, ...input }: DeliveryPageInput,
): Promise<Page<WebhookDelivery>> {
  context.caller.require('admin');
  const section = sectionOf(input, deliveryOrder);
  const { where, ...rest } = byId<bigint>(section);
  const listed = { webhookId, ...(status && { status }), ...where };
  return pageOf(section, await readInTurn(context, ({ db }) => db.webhookDelivery.findMany({ where: listed, ...rest })));
}

/** The delivery with this number; undefined when there is none. @throws Forbidden without `admin`. */
export async function findDelivery(context: Context, id: bigint): Promise<WebhookDelivery | undefined> {
  context.caller.require('admin');
  return (await readInTurn(context, ({ db }) => db.webhookDelivery.findUnique({ where: { id } }))) ?? undefined;
}
