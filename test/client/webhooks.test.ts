import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { verifyWebhook } from '../../client/src/index.ts';

// Which webhooks are genuine: client/conformance.
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
  ['a body that was not read', { body: undefined }, notRaw],
  ['a text that was not awaited', { body: new Response(text).text() }, notRaw],
  ['no headers', { headers: undefined }, noHeaders],
  ['a list of headers', { headers: Object.entries(headersOf()) }, noHeaders],
  ['no secret', { secret: undefined }, noSecret],
  ['a secret that is no base64', { secret: 'whsec_#' }, noSecret],
])('%s is a TypeError that says what to pass', async (_, wrong, message) => {
  const given = { secret, headers: headersOf(), body: text, ...wrong } as { secret: string; headers: Headers; body: string };
  const failure = await verifyWebhook(given.secret, given.headers, given.body).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(TypeError);
  expect((failure as Error).message).toMatch(message);
});
