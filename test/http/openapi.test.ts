import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { escapeHtml } from '../../src/http/pages/html.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { openApiDocument } from '../support/openapi.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const open = (path: string, accept = '*/*') => gateway.send('GET', path, { token: null, headers: { accept } });
const { '/api/user': user, ...others } = openApiDocument.paths;

describe('/openapi.json', () => {
  test('is JSON that caches may keep for five minutes, without an API token', async () => {
    const { status, headers, json } = await open('/openapi.json');
    expect([status, headers.get('content-type')]).toEqual([200, 'application/json']);
    expect(headers.get('cache-control')).toBe('public, max-age=300');
    expect(json).toEqual(openApiDocument);
  });

  test('has the paths of the route table', async () => {
    const listed = Object.keys((await open('/')).json.contents);
    expect(listed).toContain('/openapi.json');
    expect(listed).toContain('/docs/api');
    expect(Object.keys(openApiDocument.paths)).toEqual(expect.arrayContaining(listed));
  });

  test('states where an API token is required, optional or ignored', () => {
    expect(user?.put?.security).toEqual([{ token: [] }]);
    expect(others['/graphql']?.post?.security).toEqual([{ token: [] }, { bearer: [] }, {}]);
    expect(others['/livez']?.get?.security).toEqual([]);
  });

  test('describes the responses of the routes without an API token by their media types', async () => {
    const routes = Object.entries(others).filter(([path, { get }]) => get?.security?.length === 0 && !path.includes('{'));
    expect(routes.length).toBeGreaterThan(5);
    for (const [path, { get }] of routes) {
      const { status, headers } = await open(path);
      const [mediaType = ''] = headers.get('content-type')?.split(';') ?? [];
      expect([path, status, Object.keys(get?.responses['200']?.content ?? {})]).toEqual([
        path,
        200,
        expect.arrayContaining([mediaType]),
      ]);
    }
  });

  test('has an operation id of its own for each operation', () => {
    const ids = Object.values(openApiDocument.paths).flatMap(({ get, put, post }) =>
      [get, put, post].flatMap((operation) => operation?.operationId ?? []),
    );
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe('/docs/api', () => {
  const operations = [user?.get, user?.put, user?.post];
  const responses = operations.flatMap((operation) => Object.entries(operation?.responses ?? {}));

  test('has every operation, status, example and command of the document', async () => {
    const { text } = await open('/docs/api', 'text/html');
    for (const operation of operations) expect(text).toContain(`<h2 id="${operation?.operationId}">`);
    for (const [status, { content = {} }] of [...responses, ['405', user?.['x-other-methods'] ?? {}] as const]) {
      if (status !== '200') expect(text).toContain(`<h4>${status}</h4>`);
      for (const { value, 'x-curl': command = '' } of Object.values(content).flatMap(({ examples = {} }) =>
        Object.values(examples),
      )) {
        expect(text).toContain(escapeHtml(JSON.stringify(value, null, 2)));
        expect(text).toContain(escapeHtml(command));
      }
    }
  });

  test('has every member of the requests and responses', async () => {
    const { text } = await open('/docs/api', 'text/html');
    const members = [
      'user_group_id',
      'current_token',
      'new_user_group',
      'user_group.team_id',
      'user_group.api_environment_tag',
      'issues[].path',
    ];
    for (const member of members) expect(text).toContain(`<dt><code>${member}</code>`);
  });

  test('links to its sections below any path prefix', async () => {
    const { text } = await open('/docs/api', 'text/html');
    expect(text).toContain('<base href="../">');
    for (const operation of operations) expect(text).toContain(`href="docs/api#${operation?.operationId}"`);
  });
});
