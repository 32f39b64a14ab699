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
  const lists = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]));
  for (const form of [headers, capitals, lists, new Headers(headers), ofPackage]) {
    for (const body of [text, Buffer.from(text), new TextEncoder().encode(text), new TextEncoder().encode(text).buffer])
      expect(await verifyWebhook(secret, form, body)).toEqual(event);
  }
});

const notRaw = /^The body must be as it arrived, text or bytes.*express\.raw/;
const noHeaders = /^The headers must be those of the request/;
const noSecret = /^The secret must be as the gateway showed it/;

test.each<[string, { readonly secret?: unknown; readonly headers?: unknown; readonly body?: unknown }, RegExp]>([
  ['a parsed body', { body: event }, notRaw],
  ['a parsed body that is a list', { body: [event] }, notRaw],
  ['a body that was not read', { body: undefined }, notRaw],
  ['a body that is null', { body: null }, notRaw],
  ['a text that was not awaited', { body: new Response(text).text() }, notRaw],
  ['a stream', { body: new Response(text).body }, notRaw],
  ['no headers', { headers: undefined }, noHeaders],
  ['headers that are null', { headers: null }, noHeaders],
  ['a list of headers', { headers: Object.entries(headersOf()) }, noHeaders],
  ['no secret', { secret: undefined }, noSecret],
  ['an empty secret', { secret: '' }, noSecret],
  ['a secret that is no base64', { secret: 'whsec_#' }, noSecret],
])('%s is a TypeError that says what to pass', async (_, wrong, message) => {
  const given = { secret, headers: headersOf(), body: text, ...wrong } as { secret: string; headers: Headers; body: string };
  const failure = await verifyWebhook(given.secret, given.headers, given.body).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(TypeError);
  expect((failure as Error).message).toMatch(message);
});

test('headers without those of a webhook are a WebhookError', async () => {
  await expect(verifyWebhook(secret, {}, text)).rejects.toThrow(WebhookError);
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
