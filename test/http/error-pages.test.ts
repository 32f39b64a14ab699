import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { errorCatalog } from '../../src/error-catalog.ts';
import { tokenPrefixes } from '../../src/token-prefixes.ts';
import { issueToken } from '../../src/tokens.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

/** Requests that fail, with what they fail with. */
const failures: [method: string, path: string, code: keyof typeof errorCatalog, headers?: Record<string, string>][] = [
  ['GET', '/nowhere', 'NOT_FOUND'],
  ['GET', '/assets/style-000000000000.css', 'NOT_FOUND'],
  ['GET', '/api/user/?user_group_id=x', 'UNAUTHENTICATED'],
  ['GET', '/graphql', 'UNAUTHENTICATED', { authorization: 'Basic x' }],
];

describe.each(failures)('%s %s', (method, path, code, headers = {}) => {
  const open = (accept: string, more: Record<string, string> = {}) =>
    gateway.send(method, path, { token: null, headers: { ...headers, accept, 'x-request-id': 'the-id', ...more } });
  const { status, title } = errorCatalog[code];

  test(`is a page with status ${status}, title, code and request id in a browser`, async () => {
    const response = await open(browser);
    expect([response.status, response.headers.get('content-type')]).toEqual([status, 'text/html; charset=utf-8']);
    expect(response.text).toContain(`<h1>${title}</h1>`);
    for (const part of [`docs/errors/${code}`, 'the-id', '<base href="']) expect(response.text).toContain(part);
    expect(response.headers.get('www-authenticate')).toBe(status === 401 ? 'Token' : null);
    expect(response.headers.get('vary')).toMatch(/\bAccept\b/);
  });

  test.each(['*/*', 'application/problem+json, text/html;q=0.5'])('is JSON for a program that accepts %s', async (accept) => {
    const response = await open(accept);
    expect([response.status, response.json.code ?? response.json.errors[0].extensions.code]).toEqual([status, code]);
    expect(response.headers.get('content-type')).toMatch(/^application\/(problem\+)?json/);
  });
});

test.each([
  ['a program whose library prefers HTML, such as Java’s', 'text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2'],
  ['a program that accepts what browsers do', browser],
])('%s gets a problem when it sends an API token', async (_, accept) => {
  for (const [token, status] of [
    [gateway.token, 400],
    [`${tokenPrefixes.apiToken}unknown`, 401],
  ] as const) {
    const response = await gateway.send('GET', '/api/user', { token, headers: { accept } });
    expect([response.status, response.headers.get('content-type')]).toEqual([status, 'application/problem+json']);
  }
});

test('HEAD has the headers of GET', async () => {
  const headersOf = async (method: string) => {
    const { status, headers } = await gateway.send(method, '/nowhere', { token: null, headers: { accept: browser } });
    return [status, headers.get('content-type'), headers.get('content-length')];
  };
  // The request ids have the same length.
  expect(await headersOf('HEAD')).toEqual(await headersOf('GET'));
});

test('escapes what was sent', async () => {
  const path = "/<script>alert('1')</script>&\"";
  const { text } = await sendRaw(path);
  expect(text).toContain('No such path: /&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;');
  expect(text).not.toContain('<script');
});

test.each([browser, '*/*'])('shows no token that a path contains (Accept: %s)', async (accept) => {
  const token = issueToken('apiToken');
  const { text } = await gateway.send('GET', `/api/user/${token}/x`, { token: null, headers: { accept } });
  expect(text).toContain(`No such path: /api/user/${tokenPrefixes.apiToken}…/x.`);
  expect(text).not.toContain(token.slice(4, 20));
});

/** Sends a path as it is, where a URL would encode it. */
function sendRaw(path: string): Promise<{ text: string }> {
  const { hostname, port } = new URL(gateway.url);
  return new Promise((resolve, reject) => {
    const outgoing = request({ hostname, port, path, headers: { accept: browser } }, async (incoming) => {
      resolve({ text: Buffer.concat(await incoming.toArray()).toString() });
    });
    outgoing.on('error', reject).end();
  });
}
