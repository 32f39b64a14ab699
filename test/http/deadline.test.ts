import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { Caller } from '../../src/caller.ts';
import { problem } from '../../src/http/problem.ts';
import type { CompletedRequest } from '../../src/http/request.ts';
import { createHttpServer } from '../../src/http/server.ts';
import type { HttpRequest } from '../../src/http/types.ts';
import { sendRequest } from '../support/gateway.ts';

let server: Server;
let url: string;
let reported: CompletedRequest[];
let started: Promise<HttpRequest>;
let release: () => void;

beforeEach(async () => {
  reported = [];
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  started = new Promise((start) => {
    const handle = async (request: HttpRequest) => {
      start(request);
      await released;
      return { status: 200, headers: {}, body: 'ok' };
    };
    const route = { path: '/slow', methods: ['GET'], credential: 'ignored', description: 'Slow', isListed: true } as const;
    server = createHttpServer({
      authenticate: () => Caller.anonymous,
      routes: [{ ...route, handle, renderError: problem }],
      renderError: problem,
      report: () => {},
      draining: new AbortController().signal,
      rateLimiting: { headersFor: () => ({}) },
      onResponse: (completed) => void reported.push(completed),
    });
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

test('a request without a result in 12 seconds gets 503, and its later result is dropped', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const replied = sendRequest(url, 'GET', '/slow');
  await started;
  vi.advanceTimersByTime(12_000);
  const { status, headers, json } = await replied;
  expect([status, json.code, headers.get('retry-after')]).toEqual([503, 'UNAVAILABLE', expect.any(String)]);
  expect(json.detail).toMatch(/^No result within 12 seconds\. .*may have been made/);
  release();
  await new Promise((resolve) => setImmediate(resolve));
  expect(reported.map((each) => each.status)).toEqual([503]);
});

test('a request whose client disconnects is reported once, without a status', async () => {
  const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {});
  socket.write('GET /slow HTTP/1.1\r\nHost: g\r\n\r\n');
  const request = await started;
  socket.resetAndDestroy();
  await expect.poll(() => request.isAbandoned()).toBe(true);
  release();
  await expect.poll(() => reported.map(({ status, route }) => [status, route?.path])).toEqual([[undefined, '/slow']]);
});
