import { execFile, spawnSync } from 'node:child_process';
import { METHODS, request as nodeRequest } from 'node:http';
import { promisify } from 'node:util';
import axios from 'axios';
import { request as undiciRequest } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const run = promisify(execFile);
const isHere = (binary: string) => spawnSync(binary, ['--version']).status === 0;

const viaHttpClient = `
import http.client, sys
method, url, token, body = sys.argv[1:]
host, path = url.removeprefix('http://').split('/', 1)
connection = http.client.HTTPConnection(host)
connection.request(method, '/' + path, body.encode(), {'Authorization': 'Token ' + token, 'Content-Type': 'application/json'})
print(connection.getresponse().read().decode())`;

const viaUrllib = `
import sys, urllib.request
method, url, token, body = sys.argv[1:]
headers = {'Authorization': 'Token ' + token, 'Content-Type': 'application/json'}
request = urllib.request.Request(url, body.encode(), headers, method=method)
print(urllib.request.urlopen(request).read().decode())`;

type Send = (method: string, url: string, token: string, body: string) => Promise<unknown>;

const curl =
  (...options: string[]): Send =>
  async (method, url, token, body) => {
    const headers = ['-H', `Authorization: Token ${token}`, '-H', 'Content-Type: application/json'];
    return JSON.parse((await run('curl', ['-sS', ...options, '-X', method, ...headers, '-d', body, url])).stdout);
  };
const python =
  (script: string): Send =>
  async (...args) =>
    JSON.parse((await run('python3', ['-c', script, ...args])).stdout);

const headersFor = (token: string) => ({ authorization: `Token ${token}`, 'content-type': 'application/json' });

const sendWithNode = (method: string, url: string, headers: Record<string, string | number>, body: string) =>
  new Promise<unknown>((resolve, reject) => {
    const request = nodeRequest(url, { method, headers }, async (incoming) => {
      let text = '';
      for await (const chunk of incoming) text += String(chunk);
      resolve(JSON.parse(text));
    });
    request.once('error', reject).end(body);
  });

/** Clients as callers have them; some only where their program is installed. */
const clients: [name: string, send: Send, binary?: string][] = [
  ['curl', curl(), 'curl'],
  ['curl with HTTP/1.0', curl('--http1.0'), 'curl'],
  ['curl that waits for 100 Continue', curl('-H', 'Expect: 100-continue'), 'curl'],
  ['curl in chunks', curl('-H', 'Transfer-Encoding: chunked'), 'curl'],
  ['Python’s http.client', python(viaHttpClient), 'python3'],
  ['Python’s urllib', python(viaUrllib), 'python3'],
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
  [
    'Node with a length',
    (method, url, token, body) =>
      sendWithNode(method, url, { ...headersFor(token), 'content-length': Buffer.byteLength(body) }, body),
  ],
  [
    'Node in chunks',
    (method, url, token, body) => sendWithNode(method, url, { ...headersFor(token), 'transfer-encoding': 'chunked' }, body),
  ],
];

/** Whether this version of Node knows the method: its own clients send no other. */
const knowsQuery = METHODS.includes('QUERY');

describe.each(clients)('%s', (name, send, binary) => {
  const isMissing = binary !== undefined && !isHere(binary);

  for (const method of ['GET', 'QUERY']) {
    test.skipIf(isMissing || (method === 'QUERY' && !knowsQuery))(`sends a body with ${method}`, async () => {
      const body = { user_group_id: `${name} ${method}`, name: 'Grüße 😀', properties: { plan: 'gold' } };
      const response = await send(method, `${gateway.url}/api/user`, gateway.token, JSON.stringify(body));
      expect(response).toMatchObject({
        success: 1,
        new_user_group: true,
        user_group: { provided_id: body.user_group_id, name: body.name, properties: body.properties },
      });
    });
  }
});

describe('fetch, which sends no body with GET', () => {
  const headers = () => ({ authorization: `Token ${gateway.token}` });

  test('gets a message with the alternatives', async () => {
    const reply = await fetch(`${gateway.url}/api/user`, { headers: headers() });
    expect(await reply.json()).toMatchObject({ code: 'BODY_REQUIRED', detail: expect.stringContaining('QUERY /api/user') });
  });

  test('can use query parameters', async () => {
    const query = new URLSearchParams({ user_group_id: 'by fetch', name: 'Grüße 😀 & co' });
    const reply = await fetch(`${gateway.url}/api/user?${query}`, { headers: headers() });
    expect(await reply.json()).toMatchObject({ user_group: { provided_id: 'by fetch', name: 'Grüße 😀 & co' } });
  });
});
