import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { errorCatalog } from '../../src/error-catalog.ts';
import { type Reply, type RequestOptions, startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

/** The code of a failure over GraphQL. */
const codeOf = ({ json }: Reply): string | undefined => json.errors?.[0].extensions.code;

describe('an error in the request has the same status and code over REST and GraphQL', () => {
  const padding = ' '.repeat(1_048_577);
  const rows: Record<string, [code: string, status: number, options: RequestOptions, method?: string]> = {
    'an unknown credential': ['UNAUTHENTICATED', 401, { token: `unknown-${'x'.repeat(20)}`, body: {} }],
    'no body': ['BODY_REQUIRED', 400, {}],
    'no JSON': ['MALFORMED_JSON', 400, { body: '{' }],
    'a member twice': ['MALFORMED_JSON', 400, { body: '{"query":"{__typename}","variables":{"a":1,"a":1}}' }],
    'too large': ['PAYLOAD_TOO_LARGE', 413, { body: padding }],
    'another type': ['UNSUPPORTED_MEDIA_TYPE', 415, { body: 'x', headers: { 'content-type': 'text/plain' } }],
    'another method': ['METHOD_NOT_ALLOWED', 405, {}, 'PATCH'],
  };

  test.each(Object.entries(rows))('%s', async (_, [code, status, options, method = 'POST']) => {
    const rest = await gateway.send(method, '/api/user', options);
    expect([rest.status, rest.json.code]).toEqual([status, code]);
    const graphql = await gateway.send(method, '/graphql', options);
    expect([graphql.status, codeOf(graphql)]).toEqual([status, code]);
    for (const header of ['www-authenticate', 'retry-after']) expect(graphql.headers.get(header)).toBe(rest.headers.get(header));
  });

  test('405 over GraphQL carries Allow too', async () => {
    expect((await gateway.send('DELETE', '/graphql')).headers.get('allow')).toBe('GET, POST');
  });
});

describe('errors of GraphQL itself have a code of the error catalog', () => {
  const rows: Record<string, object> = {
    'a syntax error': { query: '{' },
    'an empty document': { query: '' },
    'a field that is not there': { query: '{ nothing }' },
    'a variable of another type': { query: 'query ($a: Int!) { userGroup(by: { teamId: $a }) { id } }', variables: { a: 'x' } },
    'an operation that is not there': { query: 'query A { __typename }', operationName: 'B' },
    'a subscription': { query: 'subscription { a }' },
    'no query': { variables: {} },
  };

  test.each(Object.entries(rows))('%s', async (_, body) => {
    for (const accept of ['application/json', 'application/graphql-response+json']) {
      const reply = await gateway.send('POST', '/graphql', { body, headers: { accept } });
      if (accept === 'application/json') expect(reply.status).toBeLessThan(500);
      else expect(reply.status).toBe(400);
      expect(reply.json.data ?? null).toBeNull();
      expect(reply.json.errors.length).toBeGreaterThan(0);
      for (const { extensions } of reply.json.errors) expect(extensions.code).toBe('INVALID_INPUT');
    }
  });

  test.each(['query={ __typename }', 'variables={}'])('a parameter of a GET twice: %s', async (parameter) => {
    const reply = await gateway.send('GET', encodeURI(`/graphql?query={ __typename }&variables={}&${parameter}`));
    expect([reply.status, codeOf(reply)]).toEqual([400, 'INVALID_INPUT']);
    expect(reply.json.errors[0].message).toBe(`${parameter.split('=')[0]}: is given more than once.`);
  });

  test('a GET with a body, which would be ignored', async () => {
    const reply = await gateway.send('GET', '/graphql?query={__typename}', { body: { variables: { search: 'x' } } });
    expect([reply.status, codeOf(reply)]).toEqual([400, 'INVALID_INPUT']);
    expect(reply.json.errors[0].message).toBe('is in the body of a GET; send it with POST.');
  });

  describe('a POST with a query string', () => {
    const query = 'query A($search: String) { userGroups(filter: { search: $search }) { nodes { providedId } } }';
    const send = (parameters: string, body: object = { query }, headers: Record<string, string> = {}) =>
      gateway.send('POST', encodeURI(`/graphql?${parameters}`), { body, headers });

    test.each([
      ['variables', '{"search":"x"}'],
      ['query', '{ __typename }'],
      ['operationName', 'B'],
      ['extensions', '{}'],
      ['documentId', 'a'],
      ['variables[search]', 'x'],
    ])('%s=%s, of which nothing would be considered', async (name, value) => {
      // The second time the document is known.
      for (const headers of [{}, {}, { 'idempotency-key': `post-${name}` }]) {
        const reply = await send(`a=b&${name}=${value}`, { query, variables: {} }, headers as Record<string, string>);
        expect([reply.status, codeOf(reply)]).toEqual([400, 'INVALID_INPUT']);
        const message = 'is in the query string, but not the same in the body; send it in the body only.';
        expect(reply.json.errors[0].extensions.issues).toEqual([{ path: [name], message }]);
      }
    });

    test.each(['', 'a=b&q=1&x=%25FF', 'operationName=A'])('%s, which loses nothing', async (parameters) => {
      const reply = await send(parameters, { query, operationName: 'A', variables: { search: 'nothing' } });
      expect([reply.status, reply.json]).toEqual([200, { data: { userGroups: { nodes: [] } } }]);
    });
  });

  test('the enum in the schema is the error catalog', async () => {
    const { json } = await gateway.graphql('{ __type(name: "ErrorCode") { enumValues { name } } }');
    const names = json.data.__type.enumValues.map(({ name }: { name: string }) => name);
    expect(new Set(names)).toEqual(new Set(Object.keys(errorCatalog)));
  });
});
