import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Caller, commandAuthor } from '../../src/caller.ts';
import { rotateSigningKey } from '../../src/embed-tokens/signing-keys.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { apiTokenId } from '../support/node-id.ts';
import { contextOn } from '../support/queries.ts';
import { tokensOf } from '../support/tokens.ts';

let gateway: TestGateway;
const secrets: Record<string, string> = {};
/** The numbers of these API tokens. */
const ids: Record<string, number> = {};
const groups: Record<string, { id: string; teamId: number; token: string }> = {};

const fields = `id type occurredAt requestId userGroupId providedId environment changes
  actor { kind name apiToken { number } } userGroup { teamId } apiToken { number }`;
const query = `query ($first: Int, $after: String, $last: Int, $before: String, $filter: EventFilter) {
  events(first: $first, after: $after, last: $last, before: $before, filter: $filter) {
    nodes { ${fields} } edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`;

// biome-ignore lint/suspicious/noExplicitAny: events of every kind are looked into
type Nodes = any[];

async function read(variables: object, caller = 'admin') {
  const { json } = await gateway.graphql(query, { ...variables }, { token: secrets[caller] ?? '' });
  expect(json.errors).toBeUndefined();
  return json.data.events as { nodes: Nodes; edges: Nodes; pageInfo: Record<string, unknown> };
}

const all = async (filter: object, caller?: string): Promise<Nodes> => (await read({ first: 100, filter }, caller)).nodes;

/** Sends a mutation under a request id. */
async function change(requestId: string, document: string, caller = 'admin') {
  const options = { token: secrets[caller] ?? '', headers: { 'x-request-id': requestId } };
  const { json } = await gateway.graphql(`mutation { result: ${document} }`, {}, options);
  expect([json.errors, json.data.result.code]).toEqual([undefined, undefined]);
  return json.data.result;
}

const group = '... on Error { code } ... on GetOrCreateUserGroupPayload { userGroup { id teamId token } }';

beforeAll(async () => {
  gateway = await startGateway();
  const callers = {
    admin: { environment: null, scopes: ['admin'] },
    testing: { environment: 'Testing', scopes: ['audit:read'] },
    customer: { environment: 'Customer', scopes: ['audit:read', 'groups:resolve'] },
    untagged: { environment: null, scopes: ['audit:read'] },
    writer: { environment: 'Testing', scopes: ['groups:write', 'audit:read'] },
    reader: { environment: 'Testing', scopes: ['groups:read'] },
  } as const;
  for (const [name, options] of Object.entries(callers)) {
    const { secret, id } = await gateway.issue({ ...options, scopes: [...options.scopes] });
    secrets[name] = secret;
    ids[name] = id;
  }
  for (const [name, tag] of [
    ['acme', ', environmentTag: TESTING'],
    ['globex', ', environmentTag: CUSTOMER'],
    ['gone', ', environmentTag: TESTING'],
    ['moved', ''],
  ] as const)
    groups[name] = (
      await change(`create-${name}`, `getOrCreateUserGroup(input: { providedId: "${name}" ${tag} }) { ${group} }`)
    ).userGroup;
  const mutate = (requestId: string, field: string, input: string, caller?: string) =>
    change(requestId, `${field}(input: { ${input} }) { __typename ... on Error { code } }`, caller);
  await mutate('update-1', 'updateUserGroup', 'by: { providedId: "acme" }, name: "ACME"', 'writer');
  await mutate('patch-1', 'updateUserGroup', 'by: { providedId: "acme" }, mergeProperties: { seats: 1 }', 'writer');
  await mutate('rotate-1', 'rotateUserGroupToken', `currentToken: "${groups['acme']?.token}"`);
  await mutate('move-1', 'setUserGroupEnvironment', 'by: { providedId: "moved" }, environmentTag: TESTING');
  await mutate('suspend-1', 'suspendUserGroup', 'by: { providedId: "moved" }');
  await mutate('delete-1', 'deleteUserGroup', 'by: { providedId: "gone" }');
  const { apiToken } = await change(
    'token-1',
    'createApiToken(input: { name: "new", environmentTag: CUSTOMER, scopes: [GROUPS_READ] }) { ... on Error { code } ... on CreateApiTokenPayload { apiToken { id number } } }',
  );
  ids['new'] = apiToken.number;
  await mutate('token-2', 'revokeApiToken', `id: "${apiToken.id}"`);
  await rotateSigningKey(contextOn(gateway.database, Caller.trusted(commandAuthor('operator'))));
});
afterAll(() => gateway.close());

// What each operation records: every-operation.test.ts.
test('an event says who changed what, and when', async () => {
  const [updated] = (await all({ types: ['USER_GROUP_UPDATED'] })).slice(-1);
  expect(updated).toEqual({
    id: expect.any(String),
    type: 'USER_GROUP_UPDATED',
    occurredAt: expect.stringMatching(/Z$/),
    requestId: 'update-1',
    userGroupId: groups['acme']?.id,
    providedId: 'acme',
    environment: 'TESTING',
    changes: { name: { from: 'acme', to: 'ACME' } },
    actor: { kind: 'API_TOKEN', name: 'test', apiToken: { number: ids['writer'] } },
    userGroup: { teamId: groups['acme']?.teamId },
    apiToken: null,
  });
  const [revoked] = await all({ types: ['API_TOKEN_REVOKED'] });
  expect(revoked).toMatchObject({ requestId: 'token-2', userGroup: null, apiToken: { number: ids['new'] } });
  const [deleted] = await all({ types: ['USER_GROUP_DELETED'] });
  expect(deleted).toMatchObject({ userGroupId: groups['gone']?.id, providedId: 'gone', userGroup: null });
});

describe('who sees what', () => {
  const environmentOf: Record<string, string> = { testing: 'TESTING', customer: 'CUSTOMER', untagged: 'UNTAGGED' };

  test.each(Object.keys(environmentOf))(
    '%s sees the events of its environment, and none of the whole gateway',
    async (caller) => {
      const visible = await all({}, caller);
      const expected = (await all({})).filter(({ environment }) => environment === environmentOf[caller]);
      expect(visible.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
      expect(visible.length).toBeGreaterThan(0);
    },
  );

  test.each(['id', 'teamId', 'providedId', 'token'] as const)(
    'a filter by %s of a group elsewhere is empty',
    async (selector) => {
      const value = { ...groups['acme'], providedId: 'acme' }[selector];
      expect(await all({ userGroup: { [selector]: value } }, 'customer')).toEqual([]);
      expect(await all({ userGroup: { [selector]: selector === 'teamId' ? 2_147_483_647 : 'nothing' } }, 'customer')).toEqual([]);
    },
  );

  test('an event elsewhere is not a node, and its API token and its group are hidden', async () => {
    const [event] = await all({ userGroup: { teamId: groups['acme']?.teamId } });
    const document = 'query ($id: ID!, $ids: [ID!]!) { node(id: $id) { __typename id } nodes(ids: $ids) { id } }';
    const ask = async (caller: string) =>
      (await gateway.graphql(document, { id: event.id, ids: [event.id] }, { token: secrets[caller] ?? '' })).json.data;
    expect(await ask('testing')).toEqual({ node: { __typename: 'Event', id: event.id }, nodes: [{ id: event.id }] });
    expect(await ask('admin')).toEqual(await ask('testing'));
    expect(await ask('customer')).toEqual({ node: null, nodes: [null] });
    // Made with an API token of no environment.
    const [rotated] = await all({ types: ['USER_GROUP_TOKEN_ROTATED'], userGroup: { providedId: 'acme' } }, 'testing');
    expect(rotated.actor).toEqual({ kind: 'API_TOKEN', name: 'test', apiToken: null });
    // Moved from there since.
    const [created] = await all({ userGroup: { providedId: 'moved' } }, 'untagged');
    expect(created).toMatchObject({ type: 'USER_GROUP_CREATED', userGroup: null, userGroupId: groups['moved']?.id });
  });

  test('the token of a group needs a scope of its own', async () => {
    const document = '{ events(filter: { userGroup: { providedId: "acme" } }) { nodes { userGroup { token } } } }';
    const { json } = await gateway.graphql(document, {}, { token: secrets['testing'] ?? '' });
    expect(json.errors[0].extensions.code).toBe('FORBIDDEN');
    expect(JSON.stringify(json)).not.toMatch(tokensOf('userGroup'));
  });

  test('a filter by token needs the scope for that, too', async () => {
    const { token } = (await gateway.graphql('{ userGroup(by: { providedId: "acme" }) { token } }')).json.data.userGroup;
    const document = 'query ($token: String!) { events(filter: { userGroup: { token: $token } }) { nodes { providedId } } }';
    const ask = async (caller: string) => (await gateway.graphql(document, { token }, { token: secrets[caller] ?? '' })).json;
    expect((await ask('testing')).errors[0].extensions.code).toBe('FORBIDDEN');
    expect((await ask('admin')).data.events.nodes[0]).toEqual({ providedId: 'acme' });
  });
});

describe('filters', () => {
  test.each(['id', 'teamId', 'providedId'] as const)('a deleted group is found by %s', async (selector) => {
    const value = { ...groups['gone'], providedId: 'gone' }[selector];
    const events = await all({ userGroup: { [selector]: value } });
    expect(events.map(({ type }) => type)).toEqual(['USER_GROUP_DELETED', 'USER_GROUP_CREATED']);
  });

  test('by an API token: what it changed, and what was changed of it', async () => {
    expect((await all({ apiTokenId: apiTokenId(ids['writer'] ?? 0) })).map(({ requestId }) => requestId)).toEqual([
      'patch-1',
      'update-1',
      null,
    ]);
    const created = await all({ apiTokenId: apiTokenId(ids['new'] ?? 0) });
    expect(created.map(({ requestId }) => requestId)).toEqual(['token-2', 'token-1']);
  });

  test('by types and time, together', async () => {
    const events = await all({});
    const types = ['USER_GROUP_UPDATED', 'API_TOKEN_REVOKED'];
    expect(await all({ types })).toEqual(events.filter(({ type }) => types.includes(type)));
    expect(await all({ types: [] })).toEqual([]);
    const [from, to] = [events[8].occurredAt, events[3].occurredAt];
    expect(await all({ occurredAt: { from, to } })).toEqual(
      events.filter(({ occurredAt }) => occurredAt >= from && occurredAt < to),
    );
    expect(await all({ types, occurredAt: { to: '2020-01-01T00:00:00Z' } })).toEqual([]);
  });

  test.each([
    [{ filter: { apiTokenId: '1' } }, ['filter', 'apiTokenId']],
    [{ filter: { apiTokenId: apiTokenId(0) } }, ['filter', 'apiTokenId']],
    [{ filter: { userGroup: { providedId: '' } } }, ['filter', 'userGroup', 'providedId']],
    [{ filter: { occurredAt: { from: '2026-01-02T00:00:00Z', to: '2026-01-01T00:00:00Z' } } }, ['filter', 'occurredAt', 'to']],
    [{ filter: { occurredAt: { from: '0000-01-01T00:00:00Z' } } }, ['filter', 'occurredAt', 'from']],
  ])('%j is invalid', async (variables, path) => {
    const { json } = await gateway.graphql(query, variables, { token: secrets['admin'] ?? '' });
    expect(json.errors[0].extensions).toMatchObject({ code: 'INVALID_INPUT', issues: [{ path }] });
  });
});

describe('events of a group', () => {
  test('are of the environment of the API token only', async () => {
    const { secret } = await gateway.issue({ scopes: ['groups:read', 'audit:read'] });
    const query = '{ userGroup(by: { providedId: "moved" }) { events { nodes { type } } } }';
    const { json } = await gateway.graphql(query, {}, { token: secret });
    // It was created without an environment.
    const types = ['SUSPENDED', 'ENVIRONMENT_CHANGED'].map((type) => ({ type: `USER_GROUP_${type}` }));
    expect(json.data.userGroup.events.nodes).toEqual(types);
  });

  test('of each group of a page, and of the group that a keyed mutation returns', async () => {
    const query = '{ userGroups { nodes { providedId events(first: 1) { nodes { providedId } } } } }';
    const { json } = await gateway.graphql(query, {}, { token: secrets['admin'] ?? '' });
    const { nodes } = json.data.userGroups;
    expect(nodes.length).toBeGreaterThan(2);
    for (const { providedId, events } of nodes) expect(events.nodes).toEqual([{ providedId }]);
    const mutation = `mutation { updateUserGroup(input: { by: { providedId: "acme" }, name: "Keyed" }) {
      ... on UpdateUserGroupPayload { userGroup { events(first: 1) { nodes { changes } } } } } }`;
    const headers = { 'idempotency-key': 'events-of-a-group' };
    const keyed = await gateway.graphql(mutation, {}, { token: secrets['writer'] ?? '', headers });
    expect(keyed.json.errors).toBeUndefined();
    expect(keyed.json.data.updateUserGroup.userGroup.events.nodes).toMatchObject([{ changes: { name: { to: 'Keyed' } } }]);
  });

  test('require audit:read, without which the rest of the group is returned', async () => {
    const query = '{ userGroup(by: { providedId: "acme" }) { providedId events { nodes { id } } } }';
    const { json } = await gateway.graphql(query, {}, { token: secrets['reader'] ?? '' });
    expect(json.data).toEqual({ userGroup: { providedId: 'acme', events: null } });
    expect(json.errors[0].extensions.code).toBe('FORBIDDEN');
  });
});

test.each(['', 'x', '1', '1.1x', `1.${'9'.repeat(19)}`, `${'9'.repeat(15)}.1`, '1.1'])(
  'the id of no event finds nothing: Event:%s',
  async (key) => {
    const id = Buffer.from(`Event:${key}`).toString('base64');
    const { json } = await gateway.graphql(
      'query ($id: ID!) { node(id: $id) { id } nodes(ids: [$id]) { id } }',
      { id },
      { token: secrets['admin'] ?? '' },
    );
    expect(json).toEqual({ data: { node: null, nodes: [null] } });
  },
);

test('a filter that takes too long is stopped', async () => {
  const holder = await gateway.database.pool.connect();
  try {
    await holder.query('begin; lock table event in access exclusive mode');
    const { json } = await gateway.graphql(
      query,
      { filter: { types: ['API_TOKEN_CREATED'] } },
      { token: secrets['admin'] ?? '' },
    );
    expect(json.errors[0].extensions.code).toBe('UNAVAILABLE');
    expect(json.errors[0].message).toContain('Narrow the filter');
  } finally {
    await holder.query('rollback');
    holder.release();
  }
});
