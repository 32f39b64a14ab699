import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { assetPaths } from '../../src/http/pages/assets.ts';
import { compressed } from '../../src/http/static/compressed.ts';
import type { HttpRequest } from '../../src/http/types.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

/** `fetch` decodes the body. */
const get = (path: string, acceptEncoding: string, method = 'GET') =>
  fetch(gateway.url + path, { method, headers: { accept: 'text/html', 'accept-encoding': acceptEncoding } });
const sizeOf = (response: Response): number => Number(response.headers.get('content-length'));

describe.each([
  ['/', 'Accept, Accept-Encoding'],
  ['/docs/api', 'Accept-Encoding'],
  ['/docs/errors', 'Accept-Encoding'],
  ['/docs/errors/CONFLICT', 'Accept-Encoding'],
  ['/docs/docs-config', 'Accept-Encoding'],
  ['/docs/docs-config/hex-color', 'Accept-Encoding'],
  ['/schemas/docs-config.json', 'Accept-Encoding'],
  ['/openapi.json', 'Accept-Encoding'],
  [assetPaths.stylesheet, 'Accept-Encoding'],
])('%s', (path, vary) => {
  test('is the same text in each coding', async () => {
    const plain = await get(path, 'identity');
    const text = await plain.text();
    expect([plain.status, plain.headers.get('content-encoding'), plain.headers.get('vary')]).toEqual([200, null, vary]);
    for (const coding of ['br', 'gzip']) {
      for (const time of ['first', 'second']) {
        const response = await get(path, coding);
        expect([time, response.headers.get('content-encoding'), response.headers.get('vary')]).toEqual([time, coding, vary]);
        expect(sizeOf(response)).toBeLessThan(sizeOf(plain) * 0.75);
        expect(await response.text()).toBe(text);
        for (const name of ['content-type', 'cache-control', 'content-security-policy']) {
          expect(response.headers.get(name)).toBe(plain.headers.get(name));
        }
      }
    }
    expect(sizeOf(await get(path, 'br', 'HEAD'))).toBe(sizeOf(await get(path, 'br')));
  });
});

test('a text is compressed once, and again only when it has changed', async () => {
  let text = 'a'.repeat(2_000);
  const handle = compressed(() => ({ status: 200, headers: { 'content-type': 'text/plain' }, body: text }));
  const request = { path: '/', headers: { 'accept-encoding': 'br' } } as unknown as HttpRequest;
  const [first, second] = [(await handle(request)).body, (await handle(request)).body];
  expect(second).toBe(first);
  text = 'b'.repeat(2_000);
  expect(brotliDecompressSync((await handle(request)).body as Buffer).toString()).toBe(text);
  const zipped = await handle({ ...request, headers: { 'accept-encoding': 'gzip' } });
  expect(gunzipSync(zipped.body as Buffer).toString()).toBe(text);
});

test.each([
  ['a short text', 200, 'short'],
  ['an error', 404, 'a'.repeat(2_000)],
])('%s is not compressed', async (_, status, body) => {
  const handle = compressed(() => ({ status, headers: {}, body }));
  expect(await handle({ path: '/', headers: { 'accept-encoding': 'br' } } as unknown as HttpRequest)).toEqual({
    ...{ status, headers: {}, body },
  });
});
