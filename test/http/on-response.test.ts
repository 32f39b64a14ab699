import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Caller } from '../../src/caller.ts';
import { GatewayError } from '../../src/errors.ts';
import { problem } from '../../src/http/problem.ts';
import type { CompletedRequest } from '../../src/http/request.ts';
import { createHttpServer } from '../../src/http/server.ts';
import type { Handler, HttpRequest, Route } from '../../src/http/types.ts';
import { httpLimits } from '../../src/http-limits.ts';
import { sendRequest } from '../support/gateway.ts';

let server: Server;
let url: string;
let reported: CompletedRequest[];
/** Called for each report. */
let notify: () => void;
let release: () => void;
let started: Promise<HttpRequest>;
/** Called when a request waits for its credential to be checked. */
let authenticating: () => void;

beforeEach(async () => {
  reported = [];
  notify = () => {};
  let start: (request: HttpRequest) => void;
  started = new Promise((resolve) => {
    start = resolve;
  });
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const ok = { status: 200, headers: {}, body: 'ok' };
  const route = (path: string, handle: Handler['handle'], accepts?: (value: string) => boolean): Route => ({
    path,
    methods: ['GET', 'POST'],
    credential: 'ignored',
    description: path,
    isListed: true,
    handle,
    renderError: problem,
    ...(accepts && { accepts }),
  });
  const routes = [
    route('/ok', () => ok),
    route(
      '/items/{id}',
      () => ok,
      () => true,
    ),
    route('/conflict', () => Promise.reject(new GatewayError('CONFLICT', 'is taken'))),
    route('/large', () => ({ ...ok, body: 'x'.repeat(httpLimits.maxUnsentBytes + 1) })),
    route('/broken', () => {
      throw new Error('broken');
    }),
    route('/slow', async (request) => {
      start(request);
      await released;
      return ok;
    }),
  ];
  server = createHttpServer({
    authenticate: (authorization) => {
      if (authorization !== 'wait') return Caller.anonymous;
      authenticating();
      return released.then(() => Caller.anonymous);
    },
    routes,
    renderError: problem,
    report: () => {},
    draining: new AbortController().signal,
    rateLimiting: { limit: 0, headersFor: () => ({}) },
    onResponse: (completed) => {
      reported.push(completed);
      notify();
    },
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  release();
  server.close();
  server.closeAllConnections();
});

/**
 * Waits until every connection is closed and what that causes has run, so that a second report would be there; expects these
 * labels, in this order.
 */
async function expectReports(expected: readonly (readonly unknown[])[]): Promise<void> {
  release();
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(reported.map(({ route, method, status }) => [route?.path, method, status])).toEqual(expected);
}

const nextReport = () => new Promise<void>((resolve) => (notify = resolve));

async function open(text: string): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(text);
  return socket;
}

test.each([
  ['GET', '/ok', '/ok', 200],
  ['GET', '/ok?x=y', '/ok', 200],
  ['GET', '/items/7', '/items/{id}', 200],
  ['POST', '/conflict', '/conflict', 409],
  ['GET', '/broken', '/broken', 500],
  ['DELETE', '/ok', '/ok', 405],
  ['GET', '/nowhere', undefined, 404],
])('%s %s is reported once, with the route %s and status %i', async (method, path, route, status) => {
  const response = await sendRequest(url, method, path);
  expect(response.status).toBe(status);
  await expectReports([[route, method, status]]);
  expect(reported[0]?.durationMs).toBeGreaterThan(0);
  expect(reported[0]?.durationMs).toBeLessThan(10_000);
});

test('each of many requests on one connection is reported', async () => {
  const socket = await open('GET /ok HTTP/1.1\r\nHost: g\r\n\r\n'.repeat(3));
  while (reported.length < 3) await nextReport();
  socket.destroy();
  await expectReports(Array(3).fill(['/ok', 'GET', 200]));
});

test.each([
  ['no HTTP', 'BANANA\r\n\r\n', 400],
  ['too many headers', `GET / HTTP/1.1\r\nHost: g\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
])('%s is reported without route and method', async (_, text, status) => {
  const report = nextReport();
  await open(text);
  await report;
  await expectReports([[undefined, undefined, status]]);
});

test('a request whose body is not valid HTTP is reported once', async () => {
  const report = nextReport();
  const socket = await open('POST /ok HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: chunked\r\n\r\nz\r\n');
  await report;
  if (!socket.closed) await once(socket.resume(), 'close');
  await expectReports([['/ok', 'POST', reported[0]?.status]]);
});

test('a request that times out is reported once, with 408', async () => {
  server.headersTimeout = 500;
  server.requestTimeout = 500;
  const report = nextReport();
  const socket = await open('POST /ok HTTP/1.1\r\nHost: g\r\nContent-Length: 10\r\n\r\n{');
  await report;
  await once(socket.resume(), 'close');
  await expectReports([['/ok', 'POST', 408]]);
});

test('a request without a result in 12 seconds gets 503, and its later result is dropped', async () => {
  const startedMs = performance.now();
  const { status, headers, json } = await sendRequest(url, 'GET', '/slow');
  expect([status, json.code, headers.get('retry-after')]).toEqual([503, 'UNAVAILABLE', expect.any(String)]);
  expect(json.detail).toMatch(/^No result within 12 seconds\. .*may have been made/);
  expect(performance.now() - startedMs).toBeGreaterThan(11_900);
  await expectReports([['/slow', 'GET', 503]]);
});

test('a response that exceeds what may wait to be read is reported once, with the error that is sent instead', async () => {
  const { status, json } = await sendRequest(url, 'GET', '/large');
  expect([status, json.code]).toEqual([503, 'UNAVAILABLE']);
  await expectReports([['/large', 'GET', 503]]);
  expect(reported[0]?.errorCodes).toEqual(['UNAVAILABLE']);
});

test('a request whose client disconnects is reported once, without a status', async () => {
  const socket = await open('GET /slow HTTP/1.1\r\nHost: g\r\n\r\n');
  const request = await started;
  socket.resetAndDestroy();
  while (!request.isAbandoned()) await new Promise((resolve) => setImmediate(resolve));
  const report = nextReport();
  release();
  await report;
  await expectReports([['/slow', 'GET', undefined]]);
});

test.each([
  ['without a body', 'GET', ''],
  ['with a large body', 'POST', 'Content-Length: 30000\r\n'],
])('a request %s whose client disconnects before it is handled is not, and is reported once', async (_, method, header) => {
  let isHandled = false;
  void started.then(() => {
    isHandled = true;
  });
  const socket = await open(`${method} /slow HTTP/1.1\r\nHost: g\r\n${header}Authorization: wait\r\n\r\n`);
  await new Promise<void>((resolve) => {
    authenticating = resolve;
  });
  socket.resetAndDestroy();
  const count = () => new Promise<number>((resolve) => server.getConnections((_, connections) => resolve(connections)));
  while ((await count()) > 0) await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve)); // in which the response is closed as well
  const report = nextReport();
  release();
  await report;
  await expectReports([['/slow', method, undefined]]);
  expect(isHandled).toBe(false);
  expect(reported[0]?.durationMs).toBeLessThan(5_000);
});
