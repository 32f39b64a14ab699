import { readFileSync } from 'node:fs';
import { getIntrospectionQuery } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../support/gateway.ts';

const queries = {
  'the whole schema': getIntrospectionQuery(),
  'one type': '{ __type(name: "UserGroup") { name } }',
  'one type next to a look-up': '{ __type(name: "UserGroup") { name } userGroup(by: { teamId: 1 }) { name } }',
};

describe.each([true, false])('with INTROSPECTION=%s', (introspection) => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway(undefined, { introspection });
  });
  afterAll(() => gateway.close());

  test.each(Object.entries(queries))(`${introspection ? 'returns' : 'rejects'} %s`, async (_, query) => {
    for (const token of [gateway.token, null]) {
      const { json } = await gateway.graphql(query, {}, { token });
      if (token === null && query.includes('userGroup('))
        expect(json.errors[0].extensions.code).toMatch(/UNAUTHENTICATED|INVALID_INPUT/);
      else if (introspection) expect(json.data.__schema ?? json.data.__type).toBeTruthy();
      else expect([json.data, json.errors[0].extensions.code]).toEqual([undefined, 'INVALID_INPUT']);
    }
  });

  test(`${introspection ? 'serves' : 'does not serve'} /schema.graphql, without an API token`, async () => {
    const { status, headers, text, json } = await gateway.send('GET', '/schema.graphql', { token: null });
    if (!introspection) return expect([status, json.code]).toEqual([404, 'NOT_FOUND']);
    expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
    expect(headers.get('cache-control')).toBe('public, max-age=300');
    expect(text).toBe(readFileSync('schema.graphql', 'utf8'));
  });

  test('executes other queries, with __typename', async () => {
    const { json } = await gateway.graphql('{ __typename caller { __typename } }');
    expect(json).toEqual({ data: { __typename: 'Query', caller: { __typename: 'ApiToken' } } });
  });
});
