import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { encryptWebhookSecret, generateWebhookSecret } from '../../src/webhooks/secrets.ts';
import { type SendContext, sendDue } from '../../src/webhooks/send-due.ts';
import { batchSize, findWork } from '../../src/webhooks/statements/work.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { testKeys } from '../support/keys.ts';

const leaseSeconds = 60;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());
beforeEach(() => database.pool.query('truncate webhook, webhook_delivery'));

/** Sends deliveries that are due, which all succeed. @returns the names of the statements. */
async function sendAll(count: number): Promise<string[]> {
  const secretEncrypted = encryptWebhookSecret(testKeys, 'secret_encrypted', 1, generateWebhookSecret());
  const data = { id: 1, url: 'https://example.com', types: [], environments: [], secretEncrypted, position: 0n };
  await database.prisma.webhook.create({ data });
  const delivery = { webhookId: 1, type: 'x', body: '{}' };
  const deliveries = Array.from({ length: count }, (_, index) => ({ ...delivery, eventId: String(index) }));
  await database.prisma.webhookDelivery.createMany({ data: deliveries });
  const statements: string[] = [];
  const observed: SendContext['database'] = {
    query(name, ...statement) {
      statements.push(name);
      return database.query(name, ...statement);
    },
    transaction(work) {
      statements.push('transaction');
      return database.transaction(work);
    },
  };
  const context: SendContext = {
    database: observed,
    keys: testKeys,
    log: pino({ level: 'silent' }),
    sender: { send: async () => ({ status: 204 }) },
    leaseSeconds,
    pauseMs: 10,
    onFailure(error) {
      throw error;
    },
  };
  for (const webhook of (await findWork(database, leaseSeconds)).webhooks)
    await sendDue(context, webhook, new AbortController().signal);
  return statements;
}

test.each([1, batchSize, batchSize + 1])('%d deliveries that are due are sent, also those beyond a batch', async (count) => {
  await sendAll(count);
  expect(await database.prisma.webhookDelivery.count({ where: { status: 'DELIVERED' } })).toBe(count);
});

test('deliveries that fit into a batch and succeed take three statements, and no transaction', async () => {
  expect(await sendAll(3)).toEqual(['take-deliveries', 'record-attempts', 'end-lease']);
});
