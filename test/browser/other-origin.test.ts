import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPage } from '../support/browser.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let page: TestGateway;
let permitting: TestGateway;
let closed: TestGateway;
beforeAll(async () => {
  closed = await startGateway();
  page = await startGateway(closed.database);
  permitting = await startGateway(closed.database, {
    introspection: true,
    corsOrigins: [new URL(page.url).origin],
    rateLimit: 1_000,
  });
});
afterAll(async () => {
  await Promise.all([page.close(), permitting.close()]);
  await closed.close();
});

/**
 * Sends a rotation of a group's token with fetch, as a script of the page.
 *
 * @returns the response as far as the script can read it.
 */
const script = `async ({ url, token, body }) => {
  const headers = { authorization: 'Token ' + token, 'content-type': 'application/json', 'idempotency-key': 'k', 'x-request-id': 'r' };
  try {
    const response = await fetch(url, { method: 'POST', headers, body });
    const names = ['x-request-id', 'ratelimit', 'ratelimit-policy'].map((name) => response.headers.get(name));
    return [response.status, await response.json(), names];
  } catch (error) {
    return String(error);
  }
}`;

test('scripts of other origins can call a gateway that lists the origin, and no other', async () => {
  // A page without a Content-Security-Policy, which would stop its script before the browser asks the gateway.
  const { page: tab } = await openPage(`${page.url}/livez`, {
    expectedProblems: [/CORS policy/, /ERR_FAILED/, /status of 401/],
  });
  const { json } = await closed.send('GET', '/api/user', { body: { user_group_id: 'acme' } });
  const body = JSON.stringify({ current_token: json.user_group.token });
  const call = (gateway: TestGateway, path: string, token: string) =>
    tab.evaluate(`(${script})(${JSON.stringify({ url: gateway.url + path, token, body })})`);

  expect(await call(closed, '/api/user', closed.token)).toBe('TypeError: Failed to fetch');
  expect(await call(permitting, '/api/user', 'wrong')).toEqual([
    401,
    expect.objectContaining({ code: 'UNAUTHENTICATED' }),
    ['r', null, null],
  ]);
  expect(await call(permitting, '/api/user', closed.token)).toEqual([
    200,
    expect.objectContaining({ success: 1 }),
    ['r', expect.stringMatching(/^"api-token";r=999;t=/), '"api-token";q=1000;w=60'],
  ]);
});
