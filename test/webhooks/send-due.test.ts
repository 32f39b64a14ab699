import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
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

/** Sends deliveries that are due, each answered with this status. @returns the names of the statements, and what was sent. */
async function sendAll(count: number, status = 204): Promise<{ statements: string[]; sent: Message[] }> {
  const secretEncrypted = encryptWebhookSecret(testKeys, 'secret_encrypted', 1, generateWebhookSecret());
  const data = { id: 1, url: 'https://example.com', types: [], environments: [], secretEncrypted, position: 0n };
  await database.prisma.webhook.create({ data });
  const delivery = { webhookId: 1, type: 'x', body: '{}', nextAttemptAt: new Date(0) };
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
        return { status };
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

describe.each([400, -400])('while the clock of the gateway is off by %d days', (days) => {
  /** The time of the database. */
  let startedMs: number;
  beforeEach(async () => {
    const { rows } = await database.pool.query<{ now: Date }>('select now()');
    startedMs = rows[0]?.now.getTime() ?? 0;
    vi.useFakeTimers({ toFake: ['Date'], now: startedMs + days * 86_400_000 });
    return () => void vi.useRealTimers();
  });
  const isOfDatabase = (time: Date | null | undefined) => Math.abs((time?.getTime() ?? 0) - startedMs) < 300_000;

  test('a delivery says when it was sent by the clock of the database', async () => {
    const { sent } = await sendAll(1);
    expect(sent.map(({ sentAt }) => isOfDatabase(sentAt))).toEqual([true]);
  });

  test('what a delivery stores is by the clock of the database', async () => {
    await sendAll(1);
    const { lastDeliveryAt } = await database.prisma.webhook.findUniqueOrThrow({ where: { id: 1 } });
    const { lastAttemptAt } = await database.prisma.webhookDelivery.findFirstOrThrow();
    expect([lastDeliveryAt, lastAttemptAt].map(isOfDatabase)).toEqual([true, true]);
  });

  test('what a failed delivery stores is by the clock of the database', async () => {
    await sendAll(1, 500);
    const { failingSince } = await database.prisma.webhook.findUniqueOrThrow({ where: { id: 1 } });
    const { lastAttemptAt, nextAttemptAt } = await database.prisma.webhookDelivery.findFirstOrThrow();
    expect([failingSince, lastAttemptAt, nextAttemptAt].map(isOfDatabase)).toEqual([true, true, true]);
  });
});
