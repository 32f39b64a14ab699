import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Reply, sendRequest, startGateway, type TestGateway } from '../support/gateway.ts';
import { type PrefixProxy, startPrefixProxy } from '../support/prefix-proxy.ts';

const prefix = '/internal/groups';
let gateway: TestGateway;
let proxy: PrefixProxy;
let origin: string;
beforeAll(async () => {
  gateway = await startGateway();
  proxy = await startPrefixProxy(prefix, () => gateway.url);
  origin = new URL(proxy.url).origin;
});
afterAll(async () => {
  proxy.close();
  await gateway.close();
});

const open = (url: string): Promise<Reply> => sendRequest(origin, 'GET', url, { headers: { accept: 'text/html' } });

/** Every URL that a page refers to, resolved as a browser does. */
function linksOf(url: string, { text }: Reply): string[] {
  const base = new URL(/<base href="([^"]+)"/.exec(text)?.[1] ?? '', url);
  const withoutBase = text.replace(/<base [^>]+>/, '');
  return [...withoutBase.matchAll(/ (?:href|src)="([^"]*)"/g)].map(([, link = '']) => new URL(link, base).href);
}

test('behind a proxy that removes a path prefix, every link of every page works', async () => {
  const statuses = new Map<string, number>();
  const waiting = [`${origin}${prefix}/`, `${origin}${prefix}/no/such/path`, `${origin}${prefix}/no/such/folder/`];
  for (let url = waiting.pop(); url; url = waiting.pop()) {
    const response = await open(url);
    statuses.set(url.slice(origin.length), response.status);
    if (!response.text.includes('<base ')) continue;
    for (const link of linksOf(url, response))
      if (!statuses.has(link.slice(origin.length)) && !waiting.includes(link)) waiting.push(link);
  }
  const failed = [...statuses].filter(([, status]) => status !== 200);
  expect(Object.fromEntries(failed)).toEqual({
    [`${prefix}/api/user`]: 401, // which needs an API token
    [`${prefix}/api/events`]: 401,
    [`${prefix}/metrics`]: 401,
    [`${prefix}/api/embed-tokens`]: 405,
    [`${prefix}/oauth2/introspect`]: 405, // which is POST only
    [`${prefix}/no/such/folder/`]: 404,
    [`${prefix}/no/such/path`]: 404,
  });
  for (const path of [
    '/',
    '/graphql',
    '/console',
    '/docs/api',
    '/openapi.json',
    '/docs/errors/CONFLICT',
    '/schemas/docs-config.json',
  ])
    expect([...statuses.keys()]).toContain(prefix + path);
});
