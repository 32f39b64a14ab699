import { type Context, readInTurn } from '../app.ts';
import { between, bigIntColumn, defineKeyset, integerColumn, type KeysetSection, sectionOf } from '../database/keyset.ts';
import { type CountedPage, cutPage, type Page, type PageInput, withTotalCount } from '../database/page.ts';
import { readWithinTime } from '../database/timed-read.ts';
import type { WebhookDelivery, WebhookDeliveryStatus } from '../generated/prisma/client.ts';
import { type ListedWebhook, unlisted } from './webhooks.ts';

const webhookKeyset = defineKeyset<Pick<ListedWebhook, 'id'>>('Webhook', { id: integerColumn });

/**
 * A page of the webhooks, the newest first.
 *
 * @throws Unauthenticated, Forbidden, synchronously, without `admin`.
 * @throws InvalidInput, also for a cursor of another list.
 */
export function listWebhooks(context: Context, input: PageInput): Promise<CountedPage<ListedWebhook, number>> {
  context.caller.require('admin');
  return readInTurn(context, async ({ db }) => {
    const section = sectionOf(input, { keyset: webhookKeyset, direction: 'desc' });
    const { direction, limit } = section;
    const where = { AND: between(section) };
    const found = await db.webhook.findMany({ where, orderBy: { id: direction }, take: limit, omit: unlisted });
    const page = cutPage({ found, cursorOf: webhookKeyset.cursorOf, nodeOf: (webhook) => webhook }, section);
    return withTotalCount(page, () => db.webhook.count());
  });
}

/** The webhook with this number; undefined when there is none. @throws Unauthenticated, Forbidden without `admin`. */
export async function findWebhook(context: Context, id: number): Promise<ListedWebhook | undefined> {
  context.caller.require('admin');
  return (await readInTurn(context, ({ db }) => db.webhook.findUnique({ where: { id }, omit: unlisted }))) ?? undefined;
}

/** Which deliveries are listed. */
export interface DeliveryPageInput extends PageInput {
  /** Only those with this status. */
  readonly status?: WebhookDeliveryStatus | null | undefined;
}

const deliveryKeyset = defineKeyset<Pick<WebhookDelivery, 'id'>>('WebhookDelivery', { id: bigIntColumn });

/**
 * A page of the deliveries of a webhook, the newest first; without any if there is no such webhook.
 *
 * @throws Unauthenticated, Forbidden, synchronously, without `admin`.
 * @throws InvalidInput, also for a cursor of another list.
 * @throws GatewayError `UNAVAILABLE`, by its promise, when finding those with a status takes longer than two seconds.
 */
export function listDeliveries(context: Context, webhookId: number, input: DeliveryPageInput): Promise<Page<WebhookDelivery>> {
  context.caller.require('admin');
  const section = sectionOf(input, { keyset: deliveryKeyset, direction: 'desc' });
  const status = input.status ?? undefined;
  return status
    ? readWithinTime(context, 'deliveries', [({ db }) => findDeliveries(db, webhookId, status, section)]).then(([found = []]) =>
        toPage(found, section),
      )
    : readInTurn(context, async ({ db }) => toPage(await findDeliveries(db, webhookId, undefined, section), section));
}

const toPage = (found: readonly WebhookDelivery[], section: KeysetSection<unknown>): Page<WebhookDelivery> =>
  cutPage({ found, cursorOf: deliveryKeyset.cursorOf, nodeOf: (delivery) => delivery }, section);

function findDeliveries(
  db: Context['db'],
  webhookId: number,
  status: WebhookDeliveryStatus | undefined,
  section: KeysetSection<Pick<WebhookDelivery, 'id'>>,
): Promise<WebhookDelivery[]> {
  return db.webhookDelivery.findMany({
    where: { webhookId, ...(status && { status }), AND: between(section) },
    orderBy: { id: section.direction },
    take: section.limit,
  });
}

/** The delivery with this number; undefined when there is none. @throws Unauthenticated, Forbidden without `admin`. */
export async function findDelivery(context: Context, id: bigint): Promise<WebhookDelivery | undefined> {
  context.caller.require('admin');
  return (await readInTurn(context, ({ db }) => db.webhookDelivery.findUnique({ where: { id } }))) ?? undefined;
}
