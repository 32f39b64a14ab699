import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { errorCatalog } from '../../src/error-catalog.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { openApiDocument, openApiSource } from '../support/openapi.ts';
import { operationsOf } from '../support/openapi-document.ts';

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
  let text: string;
  beforeAll(async () => {
    ({ text } = await open('/docs/api', 'text/html'));
  });

  test('has every operation, and links to it below any path prefix', () => {
    expect(text).toContain('<base href="../">');
    for (const [, { operationId, summary }] of operations) {
      expect(text).toContain(`<h3 id="${operationId}">${summary}</h3>`);
      expect(text).toContain(`href="docs/api#${operationId}"`);
    }
  });

  test('has every status, and links error codes to their pages', () => {
    for (const [, { responses }] of operations)
      for (const status of Object.keys(responses)) expect(text).toContain(`<li>${status}: `);
    const linked = [...text.matchAll(/href="docs\/errors\/([A-Z_]+)"/g)].map(([, code = '']) => code);
    expect(linked.length).toBeGreaterThan(30);
    expect(Object.keys(errorCatalog)).toEqual(expect.arrayContaining(linked));
  });

  test.each([
    'user_group_id (query)',
    'current_token',
    'new_user_group',
    'user_group.team_id',
    'issues[].path',
    'keys[].kid',
    'Idempotency-Key (header)',
  ])('describes %s', (member) => {
    expect(text).toContain(`<dt><code>${member}</code>`);
  });
});
