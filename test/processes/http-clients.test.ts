import { METHODS } from 'node:http';
import axios from 'axios';
import { request as undiciRequest } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';

// curl is in the examples of the documentation, Node's own client in all other tests.
let gateway: TestGateway;
let url: string;
let headers: Record<string, string>;
beforeAll(async () => {
  gateway = await startGateway();
  url = `${gateway.url}/api/user`;
  headers = { authorization: `Token ${gateway.token}`, 'content-type': 'application/json' };
});
afterAll(() => gateway.close());

type Send = (method: 'GET', data: string) => Promise<unknown>;
const viaAxios: Send = async (method, data) => (await axios.request({ method, url, data, adapter: 'http', headers })).data;
const viaUndici: Send = async (method, body) => (await undiciRequest(url, { method, body, headers })).body.json();

test.each([
  ['axios', viaAxios],
  ['undici', viaUndici],
] as const)('%s sends a body with GET, and with QUERY where this version of Node knows it', async (client, send) => {
  for (const method of ['GET', 'QUERY'].filter((name) => METHODS.includes(name))) {
    const body = { user_group_id: `${client} ${method}`, name: 'Grüße 😀' };
    const expected = { provided_id: body.user_group_id, name: body.name };
    expect(await send(method as 'GET', JSON.stringify(body))).toMatchObject({ new_user_group: true, user_group: expected });
  }
});

test('fetch, which sends no body with GET, gets a message with the alternatives, of which it can use the query', async () => {
  const ask = async (query = '') => (await fetch(url + query, { headers })).json();
  expect(await ask()).toMatchObject({ code: 'BODY_REQUIRED', detail: expect.stringContaining('QUERY /api/user') });
  const named = { user_group_id: 'by fetch', name: 'Grüße 😀 & co' };
  expect(await ask(`?${new URLSearchParams(named)}`)).toMatchObject({
    user_group: { provided_id: 'by fetch', name: named.name },
  });
});
