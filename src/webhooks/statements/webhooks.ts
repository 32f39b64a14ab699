import type { Database } from '../../database/client.ts';
import type { Prisma } from '../../generated/prisma/client.ts';

type Transaction = Pick<Prisma.TransactionClient, '$executeRaw' | '$queryRaw'>;

/** The number of the advisory lock under which webhooks are created. */
const creationLock = 727_076;

/** Waits until no other transaction creates a webhook, and keeps others from it until this one ends. */
export async function lockWebhookCreation(transaction: Transaction): Promise<void> {
  await transaction.$executeRaw`select pg_advisory_xact_lock(${creationLock})`;
}

/** Draws the number of a new webhook, before its row is stored: its secret is encrypted for that row. */
export async function drawWebhookNumber(transaction: Transaction): Promise<number> {
  const [row] = await transaction.$queryRaw<{ number: number }[]>`select nextval('webhook_id_seq')::int as number`;
  if (!row) throw new Error('The database did not respond with the number of a webhook.');
  return row.number;
}

/** Keeps others from changing a webhook, if it exists, until the transaction ends. */
export async function lockWebhook(transaction: Transaction, id: number): Promise<void> {
  await transaction.$executeRaw`select from webhook where id = ${id}::int for update`;
}

/** How many deliveries a statement changes, so that it takes well below a second. */
const maxDeliveries = 10_000;

/**
 * Has the deliveries of a webhook that wait for another attempt tried at once; of more than 10,000 those that would be tried
 * first.
 */
export async function retryDeliveries(transaction: Pick<Transaction, '$executeRaw'>, webhookId: number): Promise<void> {
  await transaction.$executeRaw`
    update webhook_delivery set next_attempt_at = now() where id in (
      select id from webhook_delivery where webhook_id = ${webhookId}::int and status = 'PENDING' and next_attempt_at > now()
      order by next_attempt_at limit ${maxDeliveries})`;
}

/** Removes 10,000 deliveries of a webhook, the oldest; none if there are fewer. @returns how many it removed. */
export function removeDeliveries(db: Pick<Transaction, '$executeRaw'>, webhookId: number): Promise<number> {
  return db.$executeRaw`
    with oldest as (select id from webhook_delivery where webhook_id = ${webhookId}::int order by id limit ${maxDeliveries})
    delete from webhook_delivery where id in (select id from oldest) and (select count(*) from oldest) = ${maxDeliveries}`;
}

/** The numbers of the webhooks that are enabled. */
export async function findEnabledWebhooks({ prisma }: Pick<Database, 'prisma'>): Promise<number[]> {
  const found = await prisma.webhook.findMany({ select: { id: true }, where: { enabled: true }, orderBy: { id: 'asc' } });
  return found.map(({ id }) => id);
}
