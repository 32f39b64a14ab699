import { createHmac, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { afterEach, expect, expectTypeOf, test, vi } from 'vitest';
import { verifyWebhook, WebhookError, type WebhookEvent } from '../../client/src/index.ts';

afterEach(() => {
  vi.useRealTimers();
});

const secret = `whsec_${randomBytes(24).toString('base64')}`;
const sentAt = new Date();
const event = { type: 'user_group.updated', timestamp: '2026-01-31T12:00:00.000Z', data: { provided_id: 'ä€' } };
const text = JSON.stringify(event);

/** The headers of a webhook, as the reference implementation signs it. */
const headersOf = (body = text, by = secret, at = sentAt) => ({
  'webhook-id': 'msg_1',
  'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
  'webhook-signature': new Webhook(by).sign('msg_1', at, body),
});

test('accepts what the reference implementation signs, in every form of headers and body', async () => {
  const headers = headersOf();
  const capitals = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.replace('webhook', 'Webhook'), value]),
  );
  // The class of a package that brings its own fetch.
  const ofPackage = { get: (name: string) => new Headers(headers).get(name) };
  for (const form of [headers, capitals, new Headers(headers), ofPackage]) {
    for (const body of [text, Buffer.from(text), new TextEncoder().encode(text)])
      expect(await verifyWebhook(secret, form, body)).toEqual(event);
  }
});

test('the type of an event says what is null for one that is not of a group', () => {
  expectTypeOf<WebhookEvent['data']>().toEqualTypeOf<{
    readonly id: string | null;
    readonly provided_id: string | null;
    readonly team_id: number | null;
    readonly environment: string;
    readonly changed: readonly string[];
  }>();
});

test('accepts one valid signature among several, while the secret is rotated', async () => {
  const { 'webhook-signature': own, ...headers } = headersOf();
  const other = headersOf(text, `whsec_${randomBytes(24).toString('base64')}`)['webhook-signature'];
  for (const signatures of [`${other} ${own}`, `${own} ${other}`, `v1a,${'x'.repeat(88)} ${own}`, `v2,${own.slice(3)} ${own}`])
    expect(await verifyWebhook(secret, { ...headers, 'webhook-signature': signatures }, text)).toEqual(event);
  // No more are checked than senders have, because each takes the whole body.
  const late = { ...headers, 'webhook-signature': `${`${other} `.repeat(10)}${own}` };
  await expect(verifyWebhook(secret, late, text)).rejects.toThrow(WebhookError);
  for (const signatures of [other, '', `v2,${own.slice(3)}`, own.slice(0, -1), `${own}x`, `x${own}`, own.replace(',', ', ')])
    await expect(verifyWebhook(secret, { ...headers, 'webhook-signature': signatures }, text)).rejects.toThrow(WebhookError);
});

test('accepts exactly what the reference implementation accepts', async () => {
  // One moment for both, and not the beginning of a second.
  vi.useFakeTimers({ toFake: ['Date'], now: Math.floor(Date.now() / 1_000) * 1_000 + 999 });
  const key = Buffer.from(secret.slice(6), 'base64');
  const signatures = fc.array(fc.constantFrom('own', 'other', 'v2,', 'v1,', 'v1', ',', 'a b', '  '), { maxLength: 4 });
  const property = fc.asyncProperty(
    fc.json(),
    signatures,
    fc.oneof(fc.integer({ min: -400, max: 400 }), fc.constantFrom(-301, -300, 300, 301)),
    async (body, parts, age) => {
      const timestamp = String(Math.floor(Date.now() / 1_000) - age);
      const sign = (by: Buffer) => `v1,${createHmac('sha256', by).update(`id.${timestamp}.${body}`).digest('base64')}`;
      const signature = parts
        .map((part) => (part === 'own' ? sign(key) : part === 'other' ? sign(Buffer.from('x')) : part))
        .join(' ');
      const headers = { 'webhook-id': 'id', 'webhook-timestamp': timestamp, 'webhook-signature': signature };
      const verdict = async (verify: () => unknown) => {
        try {
          return [await verify()];
        } catch {
          return 'rejected';
        }
      };
      expect(await verdict(() => verifyWebhook(secret, headers, body))).toEqual(
        await verdict(() => new Webhook(secret).verify(body, headers)),
      );
    },
  );
  await fc.assert(property, { numRuns: 200 });
});
