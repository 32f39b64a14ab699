import type { Caller } from '../caller.ts';
import { between, bigIntColumn, defineKeyset, integerColumn, type KeysetSection, sectionOf } from '../database/keyset.ts';
import { type CountedPage, cutPage, type Page, type PageInput, pageReads, withTotalCount } from '../database/page.ts';
import { readWithinTime } from '../database/timed-read.ts';
import type { PrismaClient, WebhookDelivery, WebhookDeliveryStatus } from '../generated/prisma/client.ts';
import type { Services } from '../user-groups/user-groups.ts';
import { type ListedWebhook, unlisted } from './webhooks.ts';

const webhookKeyset = defineKeyset<Pick<ListedWebhook, 'id'>>('Webhook', { id: integerColumn });

/**
 * A page of the webhooks, the newest first.
 *
 * @throws Unauthenticated, Forbidden, synchronously, without `admin`.
 * @throws InvalidInput, also for a cursor of another list.
 */
export function readWebhooks(
  { db }: Pick<Services, 'db'>,
  caller: Caller,
  input: PageInput,
): Promise<CountedPage<ListedWebhook, number>> {
  caller.require('admin');
  return pageReads.run(caller.queueKey, async () => {
    const section = sectionOf(input, { keyset: webhookKeyset, direction: 'desc' });
    const { direction, limit } = section;
    const where = { AND: between(section) };
    const found = await db.webhook.findMany({ where, orderBy: { id: direction }, take: limit, omit: unlisted });
    const page = cutPage({ found, cursorOf: webhookKeyset.cursorOf, nodeOf: (webhook) => webhook }, section);
    return withTotalCount(page, () => db.webhook.count());
  });
}

/** The webhook with this number; undefined when there is none. @throws Unauthenticated, Forbidden without `admin`. */
export async function findWebhookOf(
  { db }: Pick<Services, 'db'>,
  caller: Caller,
  id: number,
): Promise<ListedWebhook | undefined> {
  caller.require('admin');
  const find = () => db.webhook.findUnique({ where: { id }, omit: unlisted });
  return (await pageReads.run(caller.queueKey, find)) ?? undefined;
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
 * @param isAbandoned whether the response is no longer needed; reads that have not started are then skipped.
 * @throws Unauthenticated, Forbidden, synchronously, without `admin`.
 * @throws InvalidInput, also for a cursor of another list.
 * @throws GatewayError `UNAVAILABLE`, by its promise, when finding those with a status takes longer than two seconds.
 */
export function readDeliveries(
  { db }: Pick<Services, 'db'>,
  caller: Caller,
  webhookId: number,
  input: DeliveryPageInput,
  isAbandoned: () => boolean = () => false,
): Promise<Page<WebhookDelivery>> {
  caller.require('admin');
  const section = sectionOf(input, { keyset: deliveryKeyset, direction: 'desc' });
  const { queueKey } = caller;
  const status = input.status ?? undefined;
  return status
    ? readWithinTime({ db, queueKey, isAbandoned, items: 'deliveries' }, [
        (reader) => findDeliveries(reader, webhookId, status, section),
      ]).then(([found = []]) => toPage(found, section))
    : pageReads.run(queueKey, async () => toPage(await findDeliveries(db, webhookId, undefined, section), section));
}

const toPage = (found: readonly WebhookDelivery[], section: KeysetSection<unknown>): Page<WebhookDelivery> =>
  cutPage({ found, cursorOf: deliveryKeyset.cursorOf, nodeOf: (delivery) => delivery }, section);

type DeliveryReader = Pick<PrismaClient, 'webhookDelivery'>;

function findDeliveries(
  reader: DeliveryReader,
  webhookId: number,
  status: WebhookDeliveryStatus | undefined,
  section: KeysetSection<Pick<WebhookDelivery, 'id'>>,
): Promise<WebhookDelivery[]> {
  return reader.webhookDelivery.findMany({
    where: { webhookId, ...(status && { status }), AND: between(section) },
    orderBy: { id: section.direction },
    take: section.limit,
  });
}

/** The newest deliveries of a webhook. @param limit how many at most. */
export function listDeliveries(
  db: DeliveryReader,
  webhookId: number,
  { status, limit }: { readonly status: WebhookDeliveryStatus | undefined; readonly limit: number },
): Promise<WebhookDelivery[]> {
  return db.webhookDelivery.findMany({ where: { webhookId, ...(status && { status }) }, orderBy: { id: 'desc' }, take: limit });
}

/** The delivery with this number; undefined when there is none. @throws Unauthenticated, Forbidden without `admin`. */
export async function findDelivery(
  { db }: Pick<Services, 'db'>,
  caller: Caller,
  id: bigint,
): Promise<WebhookDelivery | undefined> {
  caller.require('admin');
  const find = () => db.webhookDelivery.findUnique({ where: { id } });
  return (await pageReads.run(caller.queueKey, find)) ?? undefined;
}
