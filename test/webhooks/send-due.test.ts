import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { encryptWebhookSecret, generateWebhookSecret } from '../../src/webhooks/secrets.ts';
import type { Message } from '../../src/webhooks/send.ts';
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

/** Sends deliveries that are due, which all succeed. @returns the names of the statements, and what was sent. */
async function sendAll(count: number): Promise<{ statements: string[]; sent: Message[] }> {
  const secretEncrypted = encryptWebhookSecret(testKeys, 'secret_encrypted', 1, generateWebhookSecret());
  const data = { id: 1, url: 'https://example.com', types: [], environments: [], secretEncrypted, position: 0n };
  await database.prisma.webhook.create({ data });
  const delivery = { webhookId: 1, type: 'x', body: '{}' };
  const deliveries = Array.from({ length: count }, (_, index) => ({ ...delivery, eventId: String(index) }));
  await database.prisma.webhookDelivery.createMany({ data: deliveries });
  const statements: string[] = [];
  const sent: Message[] = [];
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
    sender: {
      async send(message) {
        sent.push(message);
        return { status: 204 };
      },
    },
    leaseSeconds,
    pauseMs: 10,
    onFailure(error) {
      throw error;
    },
  };
  for (const webhook of (await findWork(database, leaseSeconds)).webhooks)
    await sendDue(context, webhook, new AbortController().signal);
  return { statements, sent };
}

test.each([1, batchSize, batchSize + 1])('%d deliveries that are due are sent, also those beyond a batch', async (count) => {
  await sendAll(count);
  expect(await database.prisma.webhookDelivery.count({ where: { status: 'DELIVERED' } })).toBe(count);
});

test('deliveries that fit into a batch and succeed take three statements, and no transaction', async () => {
  expect((await sendAll(3)).statements).toEqual(['take-deliveries', 'record-attempts', 'end-lease']);
});

test('a delivery says when it was sent by the clock of the database, whatever that of the gateway says', async () => {
  const { rows } = await database.pool.query<{ now: Date }>('select now()');
  const startedMs = rows[0]?.now.getTime() ?? 0;
  onTestFinished(() => void vi.useRealTimers());
  vi.useFakeTimers({ toFake: ['Date'], now: startedMs - 600_000 });
  const { sent } = await sendAll(1);
  const afterMs = (sent[0]?.sentAt.getTime() ?? 0) - startedMs;
  expect(afterMs).toBeGreaterThanOrEqual(0);
  expect(afterMs).toBeLessThan(300_000);
});
