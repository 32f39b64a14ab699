import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { escapeHtml } from '../../src/http/pages/layout.ts';
import { errorResponses, operationsOf } from '../../src/http/pages/openapi.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { openApiDocument, openApiSource } from '../support/openapi.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const open = (path: string, accept = '*/*') => gateway.send('GET', path, { token: null, headers: { accept } });

test('/openapi.json is openapi.yaml, that caches may keep for five minutes, without an API token', async () => {
  const { status, headers, json } = await open('/openapi.json');
  expect([status, headers.get('content-type')]).toEqual([200, 'application/json']);
  expect(headers.get('cache-control')).toBe('public, max-age=300');
  expect(json).toEqual(openApiSource);
});

describe('/docs/api', () => {
  const operations = Object.values(openApiDocument.paths).flatMap(operationsOf);

  test('has every operation', async () => {
    const { text } = await open('/docs/api', 'text/html');
    for (const [, { operationId, summary }] of operations) expect(text).toContain(`<h3 id="${operationId}">${summary}</h3>`);
  });

  test('has every example and command of the document', async () => {
    const { text } = await open('/docs/api', 'text/html');
    const successes = operations.flatMap(
      ([
        ,
        {
          responses: { 200: success },
        },
      ]) => success ?? [],
    );
    const contents = [...successes, ...errorResponses(openApiDocument)].flatMap(({ content = {} }) => Object.values(content));
    const examples = contents.flatMap(({ examples: named = {} }) => Object.values(named));
    const values = [...examples.map(({ value }) => value), ...contents.flatMap(({ example = [] }) => example)];
    expect([examples.length > 20, values.length > examples.length]).toEqual([true, true]);
    for (const value of values) expect(text).toContain(escapeHtml(JSON.stringify(value, null, 2)));
    for (const { 'x-curl': command = '' } of examples) expect(text).toContain(escapeHtml(command));
  });

  test('has every status, and links each error code to what it means', async () => {
    const { text } = await open('/docs/api', 'text/html');
    for (const [, { responses }] of operations)
      for (const status of Object.keys(responses)) if (status !== '200') expect(text).toContain(`<li>${status}: `);
    const linked = [...text.matchAll(/href="docs\/api#([A-Z_]+)"/g)].map(([, code]) => code);
    expect(linked.length).toBeGreaterThan(30);
    for (const code of linked) expect(text).toContain(`<h3 id="${code}"><a href="docs/errors/${code}">`);
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
      'variables',
      'token_type_hint',
      'active',
      'keys[].kid',
      'Idempotency-Key',
      'ETag',
    ];
    for (const member of members) expect(text).toContain(`<dt><code>${member}</code>`);
  });

  test('links to its sections below any path prefix', async () => {
    const { text } = await open('/docs/api', 'text/html');
    expect(text).toContain('<base href="../">');
    for (const [, { operationId }] of operations) expect(text).toContain(`href="docs/api#${operationId}"`);
  });
});
