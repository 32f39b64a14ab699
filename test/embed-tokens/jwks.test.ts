import { afterAll, beforeAll, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const get = (headers: Record<string, string> = {}, method = 'GET') =>
  gateway.send(method, '/.well-known/jwks.json', { token: null, headers });

test('anyone reads the public keys, which may be kept for five minutes, and nothing of the private ones', async () => {
  const { status, headers, json } = await get();
  expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([
    200,
    'application/json',
    'public, max-age=300',
  ]);
  const key = { kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig' };
  expect(json).toEqual({
    keys: [{ ...key, x: expect.stringMatching(/^[\w-]{43}$/), kid: expect.stringMatching(/^[\w-]{43}$/) }],
  });
});

test('the same keys have the same ETag, with which a client asks whether they have changed', async () => {
  const whole = await get();
  const etag = whole.headers.get('etag') ?? '';
  expect(etag).toMatch(/^"[\w-]{43}"$/);
  for (const condition of [etag, `W/${etag}`]) {
    const { status, headers, text } = await get({ 'if-none-match': condition });
    expect([status, text, headers.get('etag'), headers.get('cache-control')]).toEqual([304, '', etag, 'public, max-age=300']);
    expect(headers.get('content-length')).toBeNull(); // of a body that is not sent
  }
  expect((await get({ 'if-none-match': '"other"' })).status).toBe(200);
});
