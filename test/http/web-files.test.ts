import { readdirSync, readFileSync } from 'node:fs';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readWebFile, serveAsset } from '../../src/http/web-files.ts';
import { sendText } from '../support/connect.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

const folder = new URL('../../dist-web/assets/', import.meta.url);
const names = readdirSync(folder);
const script = names.find((name) => /^playground-.*\.js$/.test(name)) ?? '';
const content = readFileSync(new URL(script, folder));

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const get = (name: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(`${gateway.url}/assets/${name}`, { method, headers: { 'accept-encoding': 'identity', ...headers } });

/** The bytes as sent; `fetch` decodes them. */
const sizeOf = (response: Response): number => Number(response.headers.get('content-length'));

test('every asset of the build is served with its type, may be kept for a year, and is never taken for another type', async () => {
  const types: Record<string, string> = { js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8' };
  const served = names.filter((name) => /\.(?:js|css)$/.test(name));
  expect(served.length).toBeGreaterThan(5);
  for (const name of served) {
    const response = await get(name, {}, 'HEAD');
    expect([name, response.status, response.headers.get('content-type')]).toEqual([
      name,
      200,
      types[name.split('.').at(-1) ?? ''],
    ]);
    expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(sizeOf(response)).toBe(readFileSync(new URL(name, folder)).length);
  }
});

describe('content codings', () => {
  test.each([
    ['br, gzip', 'br'],
    ['gzip', 'gzip'],
    ['GZIP;Q=1.0', 'gzip'],
    ['br;q=0, gzip', 'gzip'],
    ['*', null],
    ['identity;q=0, gzip;q=0.1', 'gzip'],
    ['identity', null],
    ['', null],
  ])('Accept-Encoding %j gets %s', async (acceptEncoding, coding) => {
    const response = await get(script, { 'accept-encoding': acceptEncoding });
    expect([response.status, response.headers.get('content-encoding')]).toEqual([200, coding]);
    expect(response.headers.get('vary')).toBe('Accept-Encoding');
    expect(Buffer.from(await response.arrayBuffer()).equals(content)).toBe(true);
  });
});

test.each(['no-such-file.js', `${script}.br`, '..%2f..%2fpackage.json', 'constructor', `${script}%00`])(
  '%s is not found',
  async (name) => {
    const response = await get(name, { accept: 'application/json' });
    expect([response.status, response.headers.get('content-type')]).toEqual([404, 'application/problem+json']);
    expect((await get(name, { accept: 'text/html' })).headers.get('content-type')).toBe('text/html; charset=utf-8');
  },
);

const requestOf = (parameter: string) => ({ parameter, incoming: new IncomingMessage(new Socket()) });

test('without the build there are no assets, and a page says how to make it', async () => {
  const missing = new URL('file:///no/such/folder/');
  await expect(serveAsset(requestOf(script), [missing])).rejects.toThrow('There is no such file');
  expect(() => readWebFile('playground.html', [missing])).toThrow('run: node scripts/setup.js');
});

test('If-None-Match with the tag gets 304 without content', async () => {
  const tag = (await get(script)).headers.get('etag') ?? '';
  const reply = await sendText(
    gateway,
    `GET /assets/${script} HTTP/1.1\r\nHost: g\r\nIf-None-Match: ${tag}\r\nConnection: close\r\n\r\n`,
  );
  expect(reply).toMatch(/^HTTP\/1\.1 304 [\s\S]*\r\n\r\n$/);
});

test('a path with dots, sent as it is, is not found', async () => {
  const head = await sendText(gateway, 'GET /assets/../manifest.json HTTP/1.1\r\nHost: gateway\r\nConnection: close\r\n\r\n');
  expect(head).toMatch(/^HTTP\/1\.1 404 /);
});
