import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { consoleOperations } from '../support/console-operations.ts';
import { type Reply, type RequestOptions, startGateway, type TestGateway } from '../support/gateway.ts';
import { readPersisted } from '../support/persisted.ts';

const caller = 'query Caller { caller { name } }';
const group = 'query Group($by: UserGroupBy!) { userGroup(by: $by) { name } }';
const create =
  'mutation Create($input: GetOrCreateUserGroupInput!) { getOrCreateUserGroup(input: $input) { ... on GetOrCreateUserGroupPayload { created } } }';
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const hashOf = (text: string) => ({ persistedQuery: { version: 1, sha256Hash: sha256(text) } });

let gateway: TestGateway;
let open: TestGateway;
beforeAll(async () => {
  const files = {
    'a.json': JSON.stringify({ 'caller-1': caller, 'group-1': group }),
    'b.json': JSON.stringify({
      format: 'apollo-persisted-query-manifest',
      version: 1,
      operations: [{ id: 'create-1', name: 'Create', type: 'mutation', body: create }],
    }),
  };
  const persistedOperations = await readPersisted(files, { console: true });
  gateway = await startGateway(undefined, { introspection: true, persistedOperations });
  open = await startGateway(gateway.database);
});
afterAll(async () => {
  await open.close();
  await gateway.close();
});

/** Sends the same parameters by POST, which the fast path serves from the second time on, and by GET. */
async function sendEachWay(to: TestGateway, params: Record<string, unknown>, options: RequestOptions = {}): Promise<Reply[]> {
  const entries = Object.entries(params).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  const post = () => to.send('POST', '/graphql', { body: params, ...options });
  return [
    await post(),
    await post(),
    await to.send('GET', `/graphql?${new URLSearchParams(Object.fromEntries(entries))}`, options),
  ];
}

test.each<[string, Record<string, unknown>]>([
  ['its text', { query: caller }],
  ['its documentId', { documentId: 'caller-1' }],
  ['the SHA-256 of its text as documentId', { documentId: `sha256:${sha256(caller)}` }],
  ["Apollo's hash", { extensions: hashOf(caller) }],
  ["Apollo's hash and its text", { query: caller, extensions: hashOf(caller) }],
  ['its documentId and its name', { documentId: 'caller-1', operationName: 'Caller' }],
])('executes a persisted operation that is named by %s', async (_, params) => {
  for (const { status, json } of await sendEachWay(gateway, params))
    expect({ status, json }).toEqual({ status: 200, json: { data: { caller: { name: 'test' } } } });
});

test('a mutation of a manifest by POST, not by GET; the documents of the console; cost', async () => {
  const [first, second, get] = await sendEachWay(gateway, {
    documentId: 'create-1',
    variables: { input: { providedId: 'acme' } },
  });
  expect([first, second].map((reply) => reply?.json.data.getOrCreateUserGroup.created)).toEqual([true, false]);
  expect([get?.status, get?.json.errors[0].extensions.code]).toEqual([405, 'METHOD_NOT_ALLOWED']);
  expect((await gateway.graphql(consoleOperations['Caller'] as string)).json.data.caller.name).toBe('test');
  const params = { documentId: 'group-1', variables: { by: { teamId: 5 } }, extensions: { cost: true } };
  expect((await sendEachWay(gateway, params))[1]?.json).toEqual({
    data: { userGroup: null },
    extensions: { cost: { cost: 22, limit: 30_000 } },
  });
});

describe('what is refused, with 400', () => {
  const unlisted = 'is not a persisted operation';
  const rows: Record<string, [Record<string, unknown>, code: string, message: string]> = {
    'a document that is not listed': [{ query: '{ caller { id } }' }, 'INVALID_INPUT', unlisted],
    'a listed one with another blank': [{ query: `${caller} ` }, 'INVALID_INPUT', unlisted],
    'no document': [{ variables: {} }, 'INVALID_INPUT', 'query: is missing'],
    'a documentId with the text of another document': [
      { documentId: 'caller-1', query: group },
      'INVALID_INPUT',
      'is not the document that the id names',
    ],
    'an unknown documentId': [{ documentId: 'caller-2' }, 'PERSISTED_QUERY_NOT_FOUND', 'PersistedQueryNotFound'],
    'an unknown hash with its document': [
      { query: '{ a: __typename }', extensions: hashOf('{ a: __typename }') },
      'INVALID_INPUT',
      unlisted,
    ],
  };
  test.each(Object.entries(rows))('%s', async (_, [params, code, message]) => {
    for (const accept of ['application/json', 'application/graphql-response+json']) {
      for (const { status, json } of await sendEachWay(gateway, params, { headers: { accept } })) {
        expect([status, json.errors[0].extensions.code, json.data]).toEqual([400, code, undefined]);
        expect(json.errors[0].message).toContain(message);
      }
    }
  });

  test.each<[string, Record<string, unknown>, code: string, message: string]>([
    ['a documentId', { documentId: 'caller-1', query: caller }, 'INVALID_INPUT', 'PERSISTED_OPERATIONS'],
    [
      'a hash alone, for which clients fall back',
      { extensions: hashOf(caller) },
      'PERSISTED_QUERY_NOT_SUPPORTED',
      'PersistedQueryNotSupported',
    ],
  ])('without the setting, %s', async (_, params, code, message) => {
    for (const { status, json } of await sendEachWay(open, params)) {
      expect([status, json.errors[0].extensions.code]).toEqual([400, code]);
      expect(json.errors[0].message).toContain(message);
      expect(json.errors[0].message).not.toContain('body');
    }
  });

  test('without the setting, a document with its hash is executed', async () => {
    for (const { json } of await sendEachWay(open, { query: caller, extensions: hashOf(caller) }))
      expect(json).toEqual({ data: { caller: { name: 'test' } } });
  });
});

test.each<[string, Record<string, string>, RegExp]>([
  ['not JSON', { 'a.json': '{' }, /a\.json: the file is not valid JSON/],
  [
    'with a document that is not valid',
    { 'a.json': '{"x":"{ nothing }"}' },
    /document "x": Cannot query field .*line 1, column 3/,
  ],
  ['with an id twice', { 'a.json': '{"x":"{ __typename }"}', 'b.json': '{"x":"{ caller { id } }"}' }, /b\.json: .*the same id/],
  ['none, in a folder', {}, /has no file whose name ends in \.json/],
])('files that are %s end the start, with what is wrong', async (_, files, message) => {
  await expect(readPersisted(files)).rejects.toThrow(message);
});
