import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { KeyRing } from '../../src/encryption/keys.ts';
import { countRowsByKey, findKeyIdsInUse, reencryptAll } from '../../src/key-rotation.ts';
import { signingSecrets } from '../../src/webhooks/send.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { testKey, testKeys } from '../support/keys.ts';
import { createWebhook, operations, sendAs } from '../support/webhooks.ts';

let gateway: TestGateway;
let admin: string;
beforeAll(async () => {
  gateway = await startGateway();
  gateway.drain(); // nothing is sent while a test compares
  admin = (await gateway.issue({ environment: null, scopes: ['admin'] })).secret;
});
afterAll(() => gateway.close());
beforeEach(async () => {
  await gateway.database.pool.query('truncate webhook, webhook_delivery, event');
});

const rotate = (id: string, overlapSeconds?: number | null) =>
  sendAs(gateway, admin, 'rotate', { input: { id, overlapSeconds } });

const stored = (id: number) => gateway.database.prisma.webhook.findUniqueOrThrow({ where: { id } });

/** What deliveries are signed with, so many seconds from now. */
const secretsOf = async (id: number, seconds = 0, keys = testKeys) =>
  signingSecrets(keys, await stored(id), new Date(Date.now() + seconds * 1_000));

describe('rotateWebhookSecret', () => {
  test.each([undefined, 0])('with an overlap of %s, only the new secret signs', async (overlapSeconds) => {
    const { secret: old, webhook } = await createWebhook(gateway, admin);
    expect(await secretsOf(webhook.number)).toEqual([old]);
    const rotated = await rotate(webhook.id, overlapSeconds);
    expect(rotated.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(rotated.secret).not.toBe(old);
    expect(rotated.webhook).toEqual(webhook);
    expect(await secretsOf(webhook.number)).toEqual([rotated.secret]);
    expect(await stored(webhook.number)).toMatchObject({ previousSecretEncrypted: null, previousSecretEndsAt: null });
  });

  test('with an overlap, both sign until its end; a rotation in it ends the first secret', async () => {
    const { secret: first, webhook } = await createWebhook(gateway, admin);
    const second = await rotate(webhook.id, 3_600);
    expect(Math.abs(Date.parse(second.webhook.previousSecretEndsAt) - Date.now() - 3_600_000)).toBeLessThan(60_000);
    expect(await secretsOf(webhook.number)).toEqual([second.secret, first]);
    expect(await secretsOf(webhook.number, 3_700)).toEqual([second.secret]);
    const third = await rotate(webhook.id, 60);
    expect(await secretsOf(webhook.number)).toEqual([third.secret, second.secret]);
    await gateway.database.prisma.webhook.updateMany({ data: { previousSecretEndsAt: new Date(Date.now() - 1_000) } });
    const { json } = await gateway.graphql(operations.list, {}, { token: admin });
    expect(json.data.webhooks.nodes[0].previousSecretEndsAt).toBeNull();
  });

  test.each([-1, 604_801])('rejects an overlap of %s', async (overlapSeconds) => {
    const { secret, webhook } = await createWebhook(gateway, admin);
    const { code, issues } = await rotate(webhook.id, overlapSeconds);
    expect([code, issues[0].path]).toEqual(['INVALID_INPUT', ['overlapSeconds']]);
    expect(await secretsOf(webhook.number)).toEqual([secret]);
  });
});

test('a secret is bound to its webhook and its column', async () => {
  const [first, second] = [await createWebhook(gateway, admin), await createWebhook(gateway, admin)];
  await rotate(first.webhook.id, 60);
  const { pool } = gateway.database;
  await pool.query('update webhook w set secret_encrypted = o.secret_encrypted from webhook o where w.id = $1 and o.id = $2', [
    second.webhook.number,
    first.webhook.number,
  ]);
  await expect(secretsOf(second.webhook.number)).rejects.toThrow('webhook.secret_encrypted was changed');
  await pool.query('update webhook set previous_secret_encrypted = secret_encrypted where id = $1', [first.webhook.number]);
  await expect(secretsOf(first.webhook.number)).rejects.toThrow('webhook.previous_secret_encrypted was changed');
});

test('keys rotate encrypts both secrets with the new key, and a start needs the keys that they use', async () => {
  const { database } = gateway;
  const { secret: old, webhook } = await createWebhook(gateway, admin);
  const { secret } = await rotate(webhook.id, 3_600);
  const newKey = randomBytes(32);
  const [newId = ''] = new KeyRing([newKey]).ids;
  const [oldId = ''] = testKeys.ids;
  expect(await findKeyIdsInUse(database)).toContain(oldId);
  expect(await countRowsByKey(database)).toContainEqual({ table: 'webhook', id: oldId, rows: 2 });

  const both = new KeyRing([newKey, Buffer.from(testKey, 'base64')]);
  const progress: [number, number][] = [];
  const result = await reencryptAll(database, both, (...step) => void progress.push(step));
  expect(result).toMatchObject({ remaining: [], problems: [] });
  expect(progress.at(-1)).toEqual([result.changed, result.changed]);
  expect(await countRowsByKey(database)).toContainEqual({ table: 'webhook', id: newId, rows: 2 });
  expect(await findKeyIdsInUse(database)).toEqual([newId]);
  expect(await secretsOf(webhook.number, 0, new KeyRing([newKey]))).toEqual([secret, old]);
});
