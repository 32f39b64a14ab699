import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Reply, type RequestOptions, startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
const tokens: Record<string, string | null> = { anonymous: null };
beforeAll(async () => {
  gateway = await startGateway();
  tokens['reader'] = (await gateway.issue({ scopes: ['groups:read'] })).secret;
  tokens['writer'] = (await gateway.issue({ scopes: ['groups:write'] })).secret;
  tokens['other environment'] = (await gateway.issue({ environment: 'Customer' })).secret;
  const body = { user_group_id: 'acme', name: 'ACME', mapping: { a: '1', b: '2' }, properties: { x: { y: [1, null, 'z'] } } };
  await gateway.send('GET', '/api/user', { body });
});
afterAll(() => gateway.close());

const lookUp = `query LookUp($by: UserGroupBy!) { userGroup(by: $by) {
  __typename id teamId providedId name token environmentTag properties mapping { schemaId dataSource } createdAt updatedAt } }`;
const byId = 'query ($id: String) { userGroup(by: { providedId: $id }) { name properties } }';
const skipping = `query ($id: String!, $yes: Boolean!, $no: Boolean = false) { userGroup(by: { providedId: $id }) {
  name @include(if: $yes) token @skip(if: $yes) ... @include(if: $no) { id } mapping @skip(if: $no) { schemaId } } }`;
const update = `mutation ($input: UpdateUserGroupInput!) { updateUserGroup(input: $input) { __typename
  ... on UpdateUserGroupPayload { userGroup { name } } ... on Error { code message } ... on InvalidInput { issues { path message } } } }`;
const getOrCreate = `mutation ($id: String!, $properties: JSON) { getOrCreateUserGroup(input: { providedId: $id, properties: $properties }) {
  __typename ... on Error { code message } } }`;

type Row = [query: string, variables?: Record<string, unknown> | string | null, caller?: string, more?: object];

/** Requests of every kind that Yoga and the fast path might answer differently. */
const rows: Record<string, Row> = {
  'a look-up': [lookUp, { by: { providedId: 'acme' } }],
  'a look-up of nothing': [lookUp, { by: { providedId: 'unknown' } }],
  'a look-up by two': [lookUp, { by: { providedId: 'acme', teamId: 1 } }],
  'a look-up by what is invalid': [lookUp, { by: { providedId: '' } }],
  'a look-up without variables': [lookUp],
  'a look-up with one that is not declared': [lookUp, { by: { providedId: 'acme' }, more: 1 }],
  'a look-up without a credential': [lookUp, { by: { providedId: 'acme' } }, 'anonymous'],
  'a look-up from another environment': [lookUp, { by: { providedId: 'acme' } }, 'other environment'],
  'a named operation': [lookUp, { by: { providedId: 'acme' } }, 'reader', { operationName: 'LookUp' }],
  'an operation of another name': [lookUp, { by: { providedId: 'acme' } }, 'reader', { operationName: 'Nothing' }],
  'one of two operations': ['query A { a: __typename } query B { b: __typename }', {}, 'reader', { operationName: 'B' }],
  'a text': [byId, { id: 'acme' }],
  'a text that is null': [byId, { id: null }],
  'a text that is left out': [byId, {}],
  'a text that is a number': [byId, { id: 5 }],
  'a text with NUL': [byId, { id: 'a\0' }],
  'an id in the place of ids': ['query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids: 'garbage' }],
  'too many ids': ['query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids: Array(101).fill('x') }],
  'directives that take': [skipping, { id: 'acme', yes: true }],
  'directives that leave': [skipping, { id: 'acme', yes: false, no: true }],
  'fragments and aliases': [
    '{ a: userGroup(by: { providedId: "acme" }) { ...F b: name } a: userGroup(by: { providedId: "acme" }) { mapping { dataSource } } } fragment F on UserGroup { ... on Node { id } mapping { schemaId } }',
  ],
  'one field that fails next to one that does not': ['{ caller { name } userGroup(by: { providedId: "" }) { id } }'],
  'a failure in a list that must be there': [
    'query ($ids: [ID!]!) { caller { name } nodes(ids: $ids) { id } }',
    { ids: [''] },
    'writer',
  ],
  'a name of the language': ['{ constructor: __typename toString: __typename __proto__: __typename }'],
  'texts in the document': [
    String.raw`{ a: userGroup(by: { providedId: "acme" }) { name } b: userGroup(by: { providedId: "'"\ 
*/ ) } ];" }) { name }
      c: userGroup(by: { providedId: block }) { name } d: node(id: 5) { id } e: nodes(ids: "x") { id } }`,
  ],
  'variables within the document’s own values': [
    'query ($id: String = "acme") { a: userGroup(by: { providedId: $id }) { name } b: nodes(ids: ["x", "y"]) { __typename } }',
  ],
  introspection: ['{ __schema { queryType { name fields { name } } } __type(name: "UserGroup") { name } }'],
  'introspection without a credential': ['{ __type(name: "UserGroup") { name } __typename }', {}, 'anonymous'],
  'a query that is not valid': ['{ nothing }'],
  'an update': [update, { input: { by: { providedId: 'acme' }, name: 'ACME' } }],
  'an update that is invalid': [update, { input: { by: { providedId: 'acme' }, name: '' } }],
  'an update with an unknown member': [update, { input: { by: { providedId: 'acme' }, nmae: 'x' } }],
  'an update without a credential': [update, { input: { by: { providedId: 'acme' } } }, 'anonymous'],
  'get-or-create': [getOrCreate, { id: 'acme' }],
  'get-or-create with properties that are a list': [getOrCreate, { id: 'acme', properties: [] }],
  'get-or-create with __proto__': [getOrCreate, '{"id":"acme","properties":{"__proto__":1}}'],
  'get-or-create with a number that is not exact': [getOrCreate, '{"id":"acme","properties":{"a":1e400}}'],
  'an extension': [byId, { id: 'acme' }, 'reader', { extensions: { a: 1 } }],
  'an unknown parameter': [byId, { id: 'acme' }, 'reader', { more: 1 }],
};

/** What must not differ: the bytes of a result, and of an error its value. */
const visible = ({ status, headers, text, json }: Reply) => ({
  status,
  headers: Object.fromEntries([...headers].filter(([name]) => !['date', 'x-request-id', 'content-length'].includes(name))),
  body: json?.errors ? json : text,
});

const accepted = ['application/json', 'application/graphql-response+json'];

/** Further ones, for one row: which one is sent does not depend on the request. */
const furtherAccepted = ['*/*', 'text/plain'];

test.each(Object.entries(rows))('%s: the same response each time', async (name, [query, variables, caller, more]) => {
  const parts = JSON.stringify({ query, ...more }).slice(0, -1);
  const given =
    variables === undefined ? '' : `,"variables":${typeof variables === 'string' ? variables : JSON.stringify(variables)}`;
  const token = caller === undefined ? gateway.token : (tokens[caller] ?? null);
  const types = name === 'a look-up' ? [...accepted, ...furtherAccepted] : accepted;
  for (const accept of types) {
    // The same document with other spaces counts as another, so that each way to negotiate starts unknown.
    const body = `${parts}${given}}`.replace('"query":"', `"query":"${' '.repeat(types.indexOf(accept))}`);
    const options: RequestOptions = { token, body, headers: { accept } };
    const byYoga = visible(await gateway.send('POST', '/graphql', options));
    expect(byYoga.status).toBeLessThan(500);
    // By the fast path, and compiled by the fifth time.
    for (let time = 2; time <= (accept === types[0] ? 5 : 2); time += 1)
      expect(visible(await gateway.send('POST', '/graphql', options))).toEqual(byYoga);
  }
});

test('a revoked credential is rejected for known documents, too', async () => {
  const { secret: token, id } = await gateway.issue();
  const lookUpAcme = () => gateway.graphql(lookUp, { by: { providedId: 'acme' } }, { token });
  for (let time = 1; time <= 6; time += 1) expect((await lookUpAcme()).json.data.userGroup.name).toBe('ACME');
  await gateway.database.prisma.apiToken.update({ where: { id }, data: { revokedAt: new Date() } });
  expect((await lookUpAcme()).status).toBe(401);
});
