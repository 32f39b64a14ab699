import { createHash } from 'node:crypto';
import { getIntrospectionQuery } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parsePersistedOperations } from '../../src/graphql/execution/persisted-operations.ts';
import { schema } from '../../src/schema.ts';
import { type Reply, type RequestOptions, startGateway, type TestGateway } from '../support/gateway.ts';

const caller = 'query Caller { caller { name } }';
const group = 'query Group($by: UserGroupBy!) { userGroup(by: $by) { name } }';
const create =
  'mutation Create($input: GetOrCreateUserGroupInput!) { getOrCreateUserGroup(input: $input) { ... on GetOrCreateUserGroupPayload { created } } }';
const typeName = 'query TypeName { __type(name: "UserGroup") { name } }';
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const content = JSON.stringify({ 'caller-1': caller, 'group-1': group, 'create-1': create, 'type-1': typeName });

let gateway: TestGateway;
beforeAll(async () => {
  const persistedOperations = await parsePersistedOperations([{ content }], schema, true);
  gateway = await startGateway(undefined, { introspection: true, persistedOperations });
});
afterAll(() => gateway.close());

/** Sends the same parameters by POST, which the fast path serves from the second time on, and by GET. */
async function sendEachWay(params: Record<string, unknown>, options: RequestOptions = {}): Promise<Reply[]> {
  const entries = Object.entries(params).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  const post = () => gateway.send('POST', '/graphql', { body: params, ...options });
  return [
    await post(),
    await post(),
    await gateway.send('GET', `/graphql?${new URLSearchParams(Object.fromEntries(entries))}`, options),
  ];
}

describe('executes a persisted operation', () => {
  const hashOf = (sha256Hash: string) => ({ persistedQuery: { version: 1, sha256Hash } });

  test.each<[string, Record<string, unknown>]>([
    ['its text', { query: caller }],
    ['its documentId', { documentId: 'caller-1' }],
    ['the SHA-256 of its text as documentId', { documentId: `sha256:${sha256(caller)}` }],
    ["Apollo's hash", { extensions: hashOf(sha256(caller)) }],
    ["Apollo's hash and its text", { query: caller, extensions: hashOf(sha256(caller)) }],
    ['its documentId and its text', { documentId: 'caller-1', query: caller }],
    ['its documentId and its name', { documentId: 'caller-1', operationName: 'Caller' }],
  ])('named by %s', async (_, params) => {
    for (const { status, json } of await sendEachWay(params)) {
      expect({ status, json }).toEqual({ status: 200, json: { data: { caller: { name: 'test' } } } });
    }
  });

  test('with variables, and reports its cost', async () => {
    const params = { documentId: 'group-1', variables: { by: { teamId: 1 } }, extensions: { cost: true } };
    for (const { json } of await sendEachWay(params)) {
      expect(json).toMatchObject({ data: { userGroup: null }, extensions: { cost: { limit: 30_000 } } });
    }
  });

  test('a mutation by POST, not by GET', async () => {
    const variables = { input: { providedId: 'acme' } };
    const [first, second, get] = await sendEachWay({ documentId: 'create-1', variables });
    expect([first, second].map((reply) => reply?.json.data.getOrCreateUserGroup.created)).toEqual([true, false]);
    expect([get?.status, get?.json.errors[0].extensions.code]).toEqual([405, 'METHOD_NOT_ALLOWED']);
  });

  test('that reads the schema', async () => {
    for (const { json } of await sendEachWay({ documentId: 'type-1' })) expect(json.data.__type.name).toBe('UserGroup');
  });
});

describe('rejects with 400 and INVALID_INPUT', () => {
  const list = 'ask the operator to add yours to the file in PERSISTED_OPERATIONS';

  test.each<[string, Record<string, unknown>, string]>([
    ['a document that is not on the list', { query: '{ caller { id } }' }, 'query: is not a persisted operation'],
    ['a persisted operation with another blank', { query: `${caller} ` }, 'query: is not a persisted operation'],
    ['an unlisted document after a listed one', { query: `${caller} ${group}` }, 'query: is not a persisted operation'],
    ['what is not GraphQL, before it is parsed', { query: '{'.repeat(300) }, 'query: is not a persisted operation'],
    ['introspection', { query: getIntrospectionQuery() }, 'query: is not a persisted operation'],
    ['an unknown documentId', { documentId: 'caller-2' }, 'documentId: is not the id'],
    ['a documentId that every object has', { documentId: 'constructor' }, 'documentId: is not the id'],
    ['an unknown documentId with a listed document', { documentId: 'caller-2', query: caller }, 'documentId: is not the id'],
    ['a documentId with the text of another document', { documentId: 'caller-1', query: group }, 'query: is not the document'],
    [
      'an unknown hash with an unlisted document, which would register it',
      { query: '{ caller { id } }', extensions: { persistedQuery: { version: 1, sha256Hash: sha256('{ caller { id } }') } } },
      'extensions.persistedQuery.sha256Hash: is not the id',
    ],
    [
      'two ids of different documents',
      { documentId: 'caller-1', extensions: { persistedQuery: { sha256Hash: sha256(group) } } },
      'extensions.persistedQuery.sha256Hash: is the id of another',
    ],
    ['no document', { variables: {} }, 'query: is missing'],
  ])('%s', async (_, params, message) => {
    for (const headers of [{}, { accept: 'application/graphql-response+json' }, { accept: 'text/html' }] as Record<
      string,
      string
    >[]) {
      for (const { status, json } of await sendEachWay(params, { headers })) {
        expect(status).toBe(400);
        expect(json.errors[0]).toMatchObject({
          message: expect.stringContaining(message),
          extensions: { code: 'INVALID_INPUT' },
        });
        expect(json.errors[0].message).toContain(list);
        expect(json).not.toHaveProperty('data');
      }
    }
  });

  test.each([[5], [{}], [[]], [true]])('%j as documentId', async (documentId) => {
    const { status, json } = await gateway.send('POST', '/graphql', { body: { documentId } });
    expect([status, json.errors[0].extensions.code]).toEqual([400, 'INVALID_INPUT']);
  });

  test('a browser, which is served no playground', async () => {
    const headers = { accept: 'text/html' };
    const reply = await gateway.send('GET', '/graphql', { headers, token: null });
    expect(reply.status).toBe(404);
    expect(reply.text).not.toContain('<script');
    const listed = await gateway.send('GET', '/graphql?documentId=caller-1', { headers });
    expect([listed.status, listed.json.errors[0].extensions.code]).toEqual([406, 'INVALID_INPUT']);
  });
});

test('REST does not depend on the list', async () => {
  const reply = await gateway.send('GET', '/api/user', { body: { user_group_id: 'by-rest', name: 'REST' } });
  expect([reply.status, reply.json.new_user_group]).toEqual([200, true]);
});

test('without a list, documentId is rejected', async () => {
  const open = await startGateway(gateway.database);
  try {
    const { status, json } = await open.send('POST', '/graphql', { body: { documentId: 'caller-1', query: caller } });
    expect([status, json.errors[0].extensions.code]).toEqual([400, 'INVALID_INPUT']);
  } finally {
    await open.close();
  }
});
