import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { errorCatalog } from '../../src/error-catalog.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const open = (path: string, accept = '*/*') => gateway.send('GET', path, { token: null, headers: { accept } });

describe('GET /', () => {
  test('lists the available paths as JSON for programs', async () => {
    const { json } = await open('/');
    expect(Object.keys(json.contents)).toEqual(expect.arrayContaining(['/graphql', '/api/user', '/livez', '/readyz']));
  });

  test('lists the same paths as a page with links for browsers', async () => {
    const response = await open('/', 'text/html');
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const links = [...response.text.matchAll(/<dt><a href="([^"]+)"/g)].map(([, href = '']) => `/${href}`);
    expect(links).toEqual(Object.keys((await open('/')).json.contents));
    for (const link of links) expect([link, (await open(link, 'text/html')).status]).not.toEqual([link, 404]);
  });
});

describe('the error codes', () => {
  test('have a page each', async () => {
    const { text } = await open('/docs/errors', 'text/html');
    for (const [code, { status }] of Object.entries(errorCatalog)) {
      const page = await open(`/docs/errors/${code}`, 'text/html');
      const found = [text.includes(code), page.status, page.text.includes(code), page.text.includes(String(status))];
      expect([code, ...found]).toEqual([code, true, 200, true, true]);
    }
  });

  test.each(['NOTHING', 'constructor', 'not_found'])('“%s” has no page', async (code) => {
    expect((await open(`/docs/errors/${code}`)).status).toBe(404);
  });
});

describe('the playground', () => {
  const browser = 'text/html,application/xhtml+xml,*/*;q=0.8';

  test('is served to a browser', async () => {
    const reply = await open('/graphql', browser);
    expect([reply.status, reply.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(reply.headers.get('vary')).toBe('Accept, Authorization');
    expect(reply.text).toMatch(/<script type="module" [^>]*src="\.\/assets\/playground-/);
  });

  test('is not served to a program that sends an API token, also if its library accepts HTML', async () => {
    const query = new URLSearchParams({ query: '{ caller { name } }' });
    const reply = await gateway.send('GET', `/graphql?${query}`, { headers: { accept: browser } });
    expect(reply.json).toEqual({ data: { caller: { name: 'test' } } });
  });
});

describe('a gateway without playground and console', () => {
  let other: TestGateway;
  beforeAll(async () => {
    other = await startGateway(gateway.database, { introspection: true, playground: false, console: false });
  });
  afterAll(() => other.close());
  const openOther = (path: string) => other.send('GET', path, { token: null, headers: { accept: 'text/html' } });

  test.each([
    ['/graphql', 404],
    ['/console', 404],
    ['/console/groups', 404],
  ])('%s responds with an error page', async (path, status) => {
    const reply = await openOther(path);
    expect([reply.status, reply.headers.get('content-type')]).toEqual([status, 'text/html; charset=utf-8']);
  });

  test('no page links to them', async () => {
    for (const path of ['/', '/docs/errors', '/nowhere']) {
      expect((await openOther(path)).text).not.toMatch(/Playground|playground|Console|href="console"/);
    }
  });
});

describe('readiness and liveness', () => {
  test.each(['/livez', '/readyz', '/'])('%s ignores the credential', async (path) => {
    const reply = await gateway.send('GET', path, { token: null, headers: { authorization: 'Bearer unknown' } });
    expect(reply.status).toBe(200);
  });
});

test('a database that lacks migrations is not ready', async () => {
  const other = await startGateway();
  await other.database.pool.query('delete from _prisma_migrations');
  expect((await other.send('GET', '/readyz', { token: null })).status).toBe(503);
  await other.close();
});
