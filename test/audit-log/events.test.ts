import type { GraphQLEnumType } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Caller, commandAuthor, recordEvent } from '../../src/caller.ts';
import { rotateSigningKey } from '../../src/embed-tokens/signing-keys.ts';
import { schema } from '../../src/schema.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { apiTokenId } from '../support/node-id.ts';
import { contextOn } from '../support/queries.ts';
import { tokensOf } from '../support/tokens.ts';
import { respondGone } from '../support/webhooks.ts';

let gateway: TestGateway;
const secrets: Record<string, string> = {};
/** Every event of the changes below. */
let recorded: Nodes;
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

const changed = <Value>(from: Value, to: Value) => ({ from, to });

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
  const create = (id: string, more = '') =>
    change(`create ${id}`.replace(' ', '-'), `getOrCreateUserGroup(input: { providedId: "${id}" ${more} }) { ${group} }`);
  groups['acme'] = (
    await create('acme', 'environmentTag: TESTING, name: "Acme", properties: { plan: "gold", seats: 1 }')
  ).userGroup;
  groups['globex'] = (await create('globex', 'environmentTag: CUSTOMER')).userGroup;
  groups['gone'] = (await create('gone', 'environmentTag: TESTING')).userGroup;
  groups['moved'] = (await create('moved')).userGroup;
  await change(
    'update-1',
    'updateUserGroup(input: { by: { providedId: "acme" }, name: "ACME", properties: { plan: "gold", seats: 2, trial: true } }) { __typename ... on Error { code } }',
    'writer',
  );
  await change(
    'patch-1',
    'updateUserGroup(input: { by: { providedId: "acme" }, mergeProperties: { seats: null } }) { __typename ... on Error { code } }',
    'writer',
  );
  await change(
    'rotate-1',
    `rotateUserGroupToken(input: { currentToken: "${groups['acme']?.token}" }) { __typename ... on Error { code } }`,
  );
  await change(
    'move-1',
    'setUserGroupEnvironment(input: { by: { providedId: "moved" }, environmentTag: TESTING }) { __typename ... on Error { code } }',
  );
  const suspend =
    'suspendUserGroup(input: { by: { providedId: "moved" }, reason: "unpaid" }) { __typename ... on Error { code } }';
  const resume = 'resumeUserGroup(input: { by: { providedId: "moved" } }) { __typename ... on Error { code } }';
  await change('suspend-1', suspend);
  await change('resume-1', resume);
  // Again: nothing.
  await change('resume-2', resume);
  const revoke = (viewer: string) =>
    `revokeEmbedTokens(input: { by: { providedId: "moved" }${viewer} }) { __typename ... on Error { code } }`;
  await change('revoke-1', revoke(', viewerId: "ada \\"A\\""'));
  await change('revoke-2', revoke(''));
  await change('delete-1', 'deleteUserGroup(input: { by: { providedId: "gone" } }) { __typename ... on Error { code } }');
  const { apiToken } = await change(
    'token-1',
    'createApiToken(input: { name: "new", environmentTag: CUSTOMER, scopes: [GROUPS_READ] }) { ... on Error { code } ... on CreateApiTokenPayload { apiToken { id number } } }',
  );
  ids['new'] = apiToken.number;
  await change('token-2', `rotateApiToken(input: { id: "${apiToken.id}" }) { __typename ... on Error { code } }`);
  const update = `updateApiToken(input: { id: "${apiToken.id}", name: "new", rateLimit: 600, enabled: false }) { __typename ... on Error { code } }`;
  await change('token-5', update);
  // Again: nothing.
  await change('token-6', update);
  await change('token-3', `revokeApiToken(input: { id: "${apiToken.id}" }) { __typename ... on Error { code } }`);
  // Again: nothing.
  await change('token-4', `revokeApiToken(input: { id: "${apiToken.id}" }) { __typename ... on Error { code } }`);
  const { webhook } = await change(
    'webhook-1',
    'createWebhook(input: { url: "https://hooks.invalid/secret" }) { ... on Error { code } ... on CreateWebhookPayload { webhook { id number } } }',
  );
  ids['webhook'] = webhook.number;
  const disable = `updateWebhook(input: { id: "${webhook.id}", enabled: false }) { __typename ... on Error { code } }`;
  await change('webhook-2', disable);
  // Again: nothing.
  await change('webhook-3', disable);
  const enable = `updateWebhook(input: { id: "${webhook.id}", enabled: true }) { __typename ... on Error { code } }`;
  await change('webhook-5', enable);
  await respondGone(gateway.database, webhook.number);
  await change('webhook-4', `deleteWebhook(input: { id: "${webhook.id}" }) { __typename ... on Error { code } }`);
  const author = commandAuthor('operator');
  const { sql } = gateway.database;
  await recordEvent(sql, author, 'user_group.imported', { import: changed(null, 'import-1') });
  await recordEvent(sql, author, 'encryption_key.rotated', { encryptionKey: changed('01020304', '05060708') });
  await rotateSigningKey(contextOn(gateway.database, Caller.trusted(author)));
  recorded = await all({});
});
afterAll(() => gateway.close());

const typeNames = (schema.getType('EventType') as GraphQLEnumType).getValues().map(({ name }) => name);

test('there is an event of each type', async () => {
  expect(new Set(recorded.map(({ type }) => type))).toEqual(new Set(typeNames));
});

test.each([
  [
    'create-acme',
    'USER_GROUP_CREATED',
    'TESTING',
    { name: changed(null, 'Acme'), properties: changed(null, { plan: 'gold', seats: 1 }) },
  ],
  ['create-globex', 'USER_GROUP_CREATED', 'CUSTOMER', { name: changed(null, 'globex') }],
  [
    'update-1',
    'USER_GROUP_UPDATED',
    'TESTING',
    { name: changed('Acme', 'ACME'), properties: changed({ seats: 1 }, { seats: 2, trial: true }) },
  ],
  ['patch-1', 'USER_GROUP_UPDATED', 'TESTING', { properties: changed({ seats: 2 }, {}) }],
  ['rotate-1', 'USER_GROUP_TOKEN_ROTATED', 'TESTING', { token: changed(null, null) }],
  ['move-1', 'USER_GROUP_ENVIRONMENT_CHANGED', 'TESTING', { environmentTag: changed(null, 'TESTING') }],
  [
    'suspend-1',
    'USER_GROUP_SUSPENDED',
    'TESTING',
    { status: changed('ACTIVE', 'SUSPENDED'), suspendedReason: changed(null, 'unpaid') },
  ],
  [
    'resume-1',
    'USER_GROUP_RESUMED',
    'TESTING',
    { status: changed('SUSPENDED', 'ACTIVE'), suspendedReason: changed('unpaid', null) },
  ],
  ['revoke-1', 'EMBED_TOKEN_REVOKED', 'TESTING', { viewerId: changed(null, 'ada "A"') }],
  ['revoke-2', 'EMBED_TOKEN_REVOKED', 'TESTING', null],
  ['delete-1', 'USER_GROUP_DELETED', 'TESTING', null],
  [
    'token-1',
    'API_TOKEN_CREATED',
    'CUSTOMER',
    { name: changed(null, 'new'), environmentTag: changed(null, 'CUSTOMER'), scopes: changed(null, ['groups:read']) },
  ],
  ['token-2', 'API_TOKEN_ROTATED', 'CUSTOMER', { secret: changed(null, null) }],
  ['token-5', 'API_TOKEN_UPDATED', 'CUSTOMER', { rateLimit: changed(null, 600), enabled: changed(true, false) }],
  ['token-3', 'API_TOKEN_REVOKED', 'CUSTOMER', { revokedAt: changed(null, expect.stringMatching(/^\d{4}-/)) }],
])('the request %s recorded %s, with its actor and what changed', async (requestId, type, environment, changes) => {
  const events = recorded.filter((event) => event.requestId === requestId);
  const caller = ['update-1', 'patch-1'].includes(requestId) ? 'writer' : 'admin';
  const actor = { kind: 'API_TOKEN', name: 'test', apiToken: { number: ids[caller] } };
  const isOfGroup = !type.startsWith('API_TOKEN_');
  expect(events).toMatchObject([{ type, environment, changes, actor, apiToken: isOfGroup ? null : { number: ids['new'] } }]);
  const name = Object.keys(groups).find((each) => groups[each]?.id === events[0]?.userGroupId);
  expect(events[0]?.providedId).toBe(isOfGroup ? name : null);
  expect(events[0]?.userGroup).toEqual(isOfGroup && name !== 'gone' ? { teamId: groups[name ?? '']?.teamId } : null);
});

test.each([
  ['revoking an API token again', 'token-4'],
  ['updating it with equal values', 'token-6'],
  ['resuming a group that is active', 'resume-2'],
])('%s records nothing', async (_, requestId) => {
  expect(recorded.filter((event) => event.requestId === requestId)).toEqual([]);
});

test('the legacy REST API records its requests alike', async () => {
  const options = { headers: { 'x-request-id': 'rest-1' }, body: { user_group_id: 'by REST' } };
  const { json } = await gateway.send('GET', '/api/user', options);
  await gateway.send('PUT', '/api/user', { ...options, body: { user_group_id: 'by REST', mapping: { a: 'b' } } });
  await gateway.send('POST', '/api/user', { ...options, body: { current_token: json.user_group.token } });
  const events = await all({ userGroup: { providedId: 'by REST' } });
  expect(events.map(({ type, requestId }) => [type, requestId])).toEqual(
    ['TOKEN_ROTATED', 'UPDATED', 'CREATED'].map((what) => [`USER_GROUP_${what}`, 'rest-1']),
  );
  expect(events[1].changes).toEqual({ mapping: changed({}, { a: 'b' }) });
});

test('a rotation of signing keys and an import record their actor, and nothing of a key but its id', async () => {
  const events = await all({ types: ['SIGNING_KEY_ROTATED', 'USER_GROUP_IMPORTED'] });
  const keys = await gateway.database.prisma.signingKey.findMany({ orderBy: { number: 'asc' } });
  const actor = { kind: 'CLI', name: 'operator', apiToken: null };
  expect(events).toMatchObject([
    { type: 'SIGNING_KEY_ROTATED', actor, changes: { signingKey: changed(keys[0]?.id, keys[1]?.id) } },
    { type: 'SIGNING_KEY_ROTATED', actor, changes: { signingKey: changed(null, keys[0]?.id) } },
    { type: 'USER_GROUP_IMPORTED', actor, changes: { import: changed(null, 'import-1') } },
  ]);
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
    expect(created.map(({ requestId }) => requestId)).toEqual(['token-3', 'token-5', 'token-2', 'token-1']);
  });

  test('by types and time, together', async () => {
    const events = await all({});
    const types = ['USER_GROUP_UPDATED', 'API_TOKEN_REVOKED'];
    expect(await all({ types })).toEqual(events.filter(({ type }) => types.includes(type)));
    expect(await all({ types: [...types, ...types] })).toEqual(await all({ types }));
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
  const ofGroup = `query ($by: UserGroupBy!, $first: Int, $after: String) { userGroup(by: $by) {
    events(first: $first, after: $after) { nodes { ${fields} } pageInfo { hasNextPage endCursor } } } }`;
  const ask = async (variables: object, caller = 'admin') =>
    (await gateway.graphql(ofGroup, { by: { teamId: groups['acme']?.teamId }, ...variables }, { token: secrets[caller] ?? '' }))
      .json;

  test('are those that the filter by group finds, the newest first', async () => {
    for (const name of ['acme', 'globex', 'moved']) {
      const { data } = await ask({ by: { teamId: groups[name]?.teamId }, first: 100 });
      expect(data.userGroup.events.nodes).toEqual(await all({ userGroup: { teamId: groups[name]?.teamId } }));
    }
  });

  test('are of the environment of the API token only', async () => {
    const { secret } = await gateway.issue({ scopes: ['groups:read', 'audit:read'] });
    const query = '{ userGroup(by: { providedId: "moved" }) { events { nodes { type } } } }';
    const { json } = await gateway.graphql(query, {}, { token: secret });
    // It was created without an environment.
    const ofGroup = ['RESUMED', 'SUSPENDED', 'ENVIRONMENT_CHANGED'].map((type) => `USER_GROUP_${type}`);
    const types = ['EMBED_TOKEN_REVOKED', 'EMBED_TOKEN_REVOKED', ...ofGroup].map((type) => ({ type }));
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

test.each(['', 'x', '1', '1.', '.1', '1.1x', `1.${'9'.repeat(19)}`, `${'9'.repeat(15)}.1`, '1.1'])(
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
