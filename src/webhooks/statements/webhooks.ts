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

/**
 * Behind which position the events are that are still to come: those without a position come later. Waits until whoever gives
 * positions out has done so.
 */
export async function endOfFeed(transaction: Transaction): Promise<bigint> {
  const [row] = await transaction.$queryRaw<{ position: bigint }[]>`select last_position as position from event_feed for share`;
  if (!row) throw new Error('The database did not respond with the end of the event feed.');
  return row.position;
}
