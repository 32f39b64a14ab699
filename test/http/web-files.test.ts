import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { readWebFile, serveAsset } from '../../src/http/web-files.ts';
import { httpLimits } from '../../src/http-limits.ts';
import { connectTo, sendText } from '../support/connect.ts';
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
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip', 'gzip'],
    ['GZIP;Q=1.0', 'gzip'],
    ['br;q=0.5, gzip', 'br'],
    ['br;q=0, gzip', 'gzip'],
    ['*', null],
    ['*;q=0.1, identity;q=0.5', null],
    ['br;q=0.2, identity', 'br'],
    ['identity;q=0, gzip;q=0.1', 'gzip'],
    ['identity', null],
    ['', null],
    ['deflate', null],
    ['*;q=0', null],
  ])('Accept-Encoding %j gets %s', async (acceptEncoding, coding) => {
    const response = await get(script, { 'accept-encoding': acceptEncoding });
    expect([response.status, response.headers.get('content-encoding')]).toEqual([200, coding]);
    expect(response.headers.get('vary')).toBe('Accept-Encoding');
    expect(Buffer.from(await response.arrayBuffer()).equals(content)).toBe(true);
  });

  test('what the build compressed is the content', () => {
    expect(brotliDecompressSync(readFileSync(new URL(`${script}.br`, folder))).equals(content)).toBe(true);
    expect(gunzipSync(readFileSync(new URL(`${script}.gz`, folder))).equals(content)).toBe(true);
  });
});

test.each([
  'no-such-file.js',
  `${script}.br`,
  `${script}.gz`,
  '..%2fmanifest.json',
  '..%2f..%2fpackage.json',
  'constructor',
  `${script}%00`,
])('%s is not found', async (name) => {
  const response = await get(name, { accept: 'application/json' });
  expect([response.status, response.headers.get('content-type')]).toEqual([404, 'application/problem+json']);
  expect((await get(name, { accept: 'text/html' })).headers.get('content-type')).toBe('text/html; charset=utf-8');
});

const requestOf = (parameter: string) => ({ parameter, incoming: new IncomingMessage(new Socket()) });

test('without the build there are no assets, and a page says how to make it', async () => {
  const missing = new URL('file:///no/such/folder/');
  await expect(serveAsset(requestOf(script), [missing])).rejects.toThrow('There is no such file');
  expect(() => readWebFile('playground.html', [missing])).toThrow('run: node scripts/setup.js');
});

test('a build that replaces the files under a running gateway leaves the pages of the one before complete', async () => {
  const root = mkdtempSync(join(tmpdir(), 'web-files-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const [current, previous] = ['dist-web', 'dist-web.previous'].map((name) => join(root, name)) as [string, string];
  /** As web/build.js does. */
  const build = (version: string): void => {
    const next = join(root, 'dist-web.next');
    mkdirSync(join(next, 'assets'), { recursive: true });
    writeFileSync(join(next, 'console.html'), version);
    for (const part of ['first', 'later', 'last'])
      writeFileSync(join(next, 'assets', `${part}-${version}.js`), `${part} ${version}`);
    rmSync(previous, { recursive: true, force: true });
    if (version !== 'a') renameSync(current, previous);
    renameSync(next, current);
  };
  build('a');
  const folders = [current, previous].map((name) => pathToFileURL(`${name}/`));
  const read = async (name: string) => text((await serveAsset(requestOf(name), folders)).body as Readable);
  const consolePage = () => readWebFile('console.html', folders);
  expect([consolePage(), await read('first-a.js')]).toEqual(['a', 'first a']);
  build('b');
  // One that was listed, before and after one of the new build.
  expect([await read('later-a.js'), await read('later-b.js'), await read('first-a.js')]).toEqual([
    'later a',
    'later b',
    'first a',
  ]);
  expect(consolePage()).toBe('b');
  build('c');
  await expect(read('last-a.js')).rejects.toThrow('reload the page');
  expect([await read('last-b.js'), await read('last-c.js')]).toEqual(['last b', 'last c']);
});

test.runIf(existsSync('/proc/self/fd'))('clients that disconnect leave no file open', async () => {
  const openFiles = () =>
    readdirSync('/proc/self/fd').filter((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`).includes('/dist-web/');
      } catch {
        return false; // closed meanwhile
      }
    }).length;
  for (let i = 0; i < 50; i += 1) {
    const socket = connectTo(gateway);
    await once(socket, 'connect');
    socket.write(`GET /assets/${script} HTTP/1.1\r\nHost: gateway\r\n\r\n`, () => void socket.resetAndDestroy());
  }
  expect((await get(script)).status).toBe(200);
  await expect.poll(openFiles).toBe(0);
});

test('If-None-Match with the tag gets 304 without content', async () => {
  const tag = (await get(script)).headers.get('etag') ?? '';
  const reply = await sendText(
    gateway,
    `GET /assets/${script} HTTP/1.1\r\nHost: g\r\nIf-None-Match: ${tag}\r\nConnection: close\r\n\r\n`,
  );
  expect(reply).toMatch(/^HTTP\/1\.1 304 [\s\S]*\r\n\r\n$/);
});

test('If-Match with another tag gets 412', async () => {
  const reply = await sendText(
    gateway,
    `GET /assets/${script} HTTP/1.1\r\nHost: g\r\nIf-Match: "x"\r\nConnection: close\r\n\r\n`,
  );
  expect(reply).toMatch(/^HTTP\/1\.1 412 /);
});

test('a path with dots, sent as it is, is not found', async () => {
  const head = await sendText(gateway, 'GET /assets/../manifest.json HTTP/1.1\r\nHost: gateway\r\nConnection: close\r\n\r\n');
  expect(head).toMatch(/^HTTP\/1\.1 404 /);
});

test('visitors that do not read do not keep others from pages', async () => {
  // Pipelined, because the system's buffers take the first ones.
  const requests = `GET /assets/${script} HTTP/1.1\r\nHost: gateway\r\n\r\n`.repeat(16);
  // What each does not read, added up, exceeds what callers without a credential may hold.
  for (let bytes = 0; bytes < httpLimits.maxUnsentBytes / 2; bytes += content.length) connectTo(gateway).pause().write(requests);
  for (let i = 0; i < 20; i += 1) {
    expect((await get(script)).status).toBe(200);
    expect((await gateway.send('GET', '/docs/api', { token: null, headers: { accept: 'text/html' } })).status).toBe(200);
  }
});
