import { execFile, spawnSync } from 'node:child_process';
import { METHODS } from 'node:http';
import { promisify } from 'node:util';
import axios from 'axios';
import { request as undiciRequest } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const run = promisify(execFile);

type Send = (method: string, url: string, token: string, body: string) => Promise<unknown>;

const curl =
  (...options: string[]): Send =>
  async (method, url, token, body) => {
    const headers = ['-H', `Authorization: Token ${token}`, '-H', 'Content-Type: application/json'];
    return JSON.parse((await run('curl', ['-sS', ...options, '-X', method, ...headers, '-d', body, url])).stdout);
  };
const headersFor = (token: string) => ({ authorization: `Token ${token}`, 'content-type': 'application/json' });

/** Clients as callers have them; some only where their program is installed. Node's own is that of all other tests. */
const clients: [name: string, send: Send, program?: string][] = [
  ['curl', curl(), 'curl'],
  ['curl with HTTP/1.0', curl('--http1.0'), 'curl'],
  ['curl that waits for 100 Continue', curl('-H', 'Expect: 100-continue'), 'curl'],
  ['curl in chunks', curl('-H', 'Transfer-Encoding: chunked'), 'curl'],
  [
    'axios',
    async (method, url, token, data) =>
      (await axios.request({ method, url, data, adapter: 'http', headers: headersFor(token) })).data,
  ],
  [
    'undici',
    async (method, url, token, body) =>
      (await undiciRequest(url, { method: method as 'GET', body, headers: headersFor(token) })).body.json(),
  ],
];

/** QUERY only where this version of Node knows it: its own clients send no other. */
const cases = clients.flatMap(([name, send, program]) =>
  program !== undefined && spawnSync(program, ['--version']).status !== 0
    ? []
    : ['GET', 'QUERY'].filter((method) => METHODS.includes(method)).map((method) => [name, method, send] as const),
);

test.each(cases)('%s sends a body with %s', async (name, method, send) => {
  const body = { user_group_id: `${name} ${method}`, name: 'Grüße 😀', properties: { plan: 'gold' } };
  const { user_group_id: provided_id, ...others } = body;
  expect(await send(method, `${gateway.url}/api/user`, gateway.token, JSON.stringify(body))).toMatchObject({
    success: 1,
    new_user_group: true,
    user_group: { provided_id, ...others },
  });
});

test('fetch, which sends no body with GET, gets a message with the alternatives, of which it can use the query', async () => {
  const ask = async (query: string) => {
    const headers = { authorization: `Token ${gateway.token}` };
    return (await fetch(`${gateway.url}/api/user${query}`, { headers })).json();
  };
  expect(await ask('')).toMatchObject({ code: 'BODY_REQUIRED', detail: expect.stringContaining('QUERY /api/user') });
  const named = { user_group_id: 'by fetch', name: 'Grüße 😀 & co' };
  expect(await ask(`?${new URLSearchParams(named)}`)).toMatchObject({
    user_group: { provided_id: 'by fetch', name: named.name },
  });
});
