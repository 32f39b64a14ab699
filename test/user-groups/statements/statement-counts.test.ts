import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { rotateApiToken } from '../../../src/api-tokens/api-tokens.ts';
import { createEmbedToken, introspect } from '../../../src/embed-tokens/embed-tokens.ts';
import { issueToken } from '../../../src/tokens.ts';
import { callerWith } from '../../support/caller.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { contextOn } from '../../support/queries.ts';

let database: TestDatabase;
let gateway: TestGateway;
let group: { token: string; team_id: number };

/** Every statement since the test began, but for the stamps of last use and resolution, which belong to no request. */
let statements: string[] = [];
const reads = (table: string) => expect.stringMatching(new RegExp(`^select\\b.*\\bfrom ${table}\\b`, 's'));

beforeAll(async () => {
  database = await createTestDatabase();
  database.pool.on('connect', (client) => {
    const query = client.query.bind(client);
    const recorded = (...args: unknown[]) => {
      const text = (typeof args[0] === 'string' ? args[0] : (args[0] as { text: string }).text).trim();
      if (!/^update api_token set last_used_at|set last_resolved_at|from event_feed/.test(text)) statements.push(text);
      return Reflect.apply(query, client, args);
    };
    client.query = recorded as typeof client.query;
  });
  gateway = await startGateway(database);
  group = (await gateway.send('GET', '/api/user', { body: { user_group_id: 'acme' } })).json.user_group;
});
beforeEach(() => {
  statements = [];
});
afterAll(async () => {
  await gateway.close();
  await database.close();
});

test('a look-up by token costs one statement for the API token and one for the group', async () => {
  const { json } = await gateway.graphql('query ($token: String) { userGroup(by: { token: $token }) { teamId } }', group);
  expect(json.data.userGroup.teamId).toBe(group.team_id);
  expect(statements).toEqual([reads('api_token'), reads('user_group')]);
});

test.each(['teamId', 'providedId', 'id'])('a look-up by %s costs the same', async (selector) => {
  const by = { teamId: group.team_id, providedId: 'acme', id: Buffer.from(`UserGroup:${group.team_id}`).toString('base64') };
  const variables = { by: { [selector]: by[selector as keyof typeof by] } };
  const { json } = await gateway.graphql('query ($by: UserGroupBy!) { userGroup(by: $by) { teamId } }', variables);
  expect(json.data.userGroup.teamId).toBe(group.team_id);
  expect(statements).toEqual([reads('api_token'), reads('user_group')]);
});

test('get-or-create of an existing group over REST is those two reads and no write', async () => {
  const { json } = await gateway.send('GET', '/api/user', { body: { user_group_id: 'acme', name: 'other' } });
  expect(json.new_user_group).toBe(false);
  expect(statements).toEqual([reads('api_token'), reads('user_group')]);
});

test('get-or-create of an existing group over GraphQL is those two reads and no write', async () => {
  const document = `mutation { getOrCreateUserGroup(input: { providedId: "acme", name: "other" }) {
    ... on GetOrCreateUserGroupPayload { created } } }`;
  expect((await gateway.graphql(document)).json.data.getOrCreateUserGroup).toEqual({ created: false });
  expect(statements).toEqual([reads('api_token'), reads('user_group')]);
});

const writes = (table: string) => expect.stringMatching(new RegExp(`^with\\s+actor as .*\\b${table}\\b`, 's'));

test('get-or-create of a new group is two reads and one write', async () => {
  await gateway.send('GET', '/api/user', { body: { user_group_id: 'new' } });
  expect(statements).toEqual([reads('api_token'), reads('user_group'), writes('insert into user_group')]);
});

test('an update over REST is two reads and one write', async () => {
  await gateway.send('PUT', '/api/user', { body: { user_group_id: 'acme', name: 'renamed' } });
  expect(statements).toEqual([reads('api_token'), reads('user_group'), writes('update user_group')]);
});

test('a merge patch is one transaction: the group is locked, then updated', async () => {
  const document = `mutation { updateUserGroup(input: { by: { providedId: "acme" }, mergeProperties: { a: 1 } }) { __typename } }`;
  expect((await gateway.graphql(document)).json.data.updateUserGroup.__typename).toBe('UpdateUserGroupPayload');
  const locks = expect.stringMatching(/\bfor update\b/);
  const patch = [begin, isolation, setsActor, locks, writes('update user_group'), commit];
  expect(statements).toEqual([reads('api_token'), reads('user_group'), ...patch]);
});

test('a rotation is one write, which finds the group', async () => {
  const { json } = await gateway.send('GET', '/api/user', { body: { user_group_id: 'one write' } });
  statements = [];
  await gateway.send('POST', '/api/user', { body: { current_token: json.user_group.token } });
  expect(statements).toEqual([reads('api_token'), writes('update user_group')]);
});

test('a hundred nodes cost one statement for the API token and one for the groups', async () => {
  const ids = Array.from({ length: 100 }, (_, index) => Buffer.from(`UserGroup:${index}`).toString('base64'));
  await gateway.graphql('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids });
  expect(statements).toEqual([reads('api_token'), reads('user_group')]);
});

test.each<[string, boolean]>([
  ['{ userGroups(first: 100) { nodes { name token } edges { cursor } } }', false],
  ['{ userGroups(first: 100) { edges { node { dataSource(schemaId: "a") } } } }', true],
  ['{ userGroups(first: 100) { ...Page } } fragment Page on UserGroupConnection { nodes { a: mapping { schemaId } } }', true],
])('%s reads the JSON of its groups: %s', async (query, isRead) => {
  for (let use = 0; use < 4; use += 1) expect((await gateway.graphql(query)).json.errors).toBeUndefined(); // compiled by then
  const selected = statements.filter((statement) => /^select\b.*\bfrom user_group g\b/s.test(statement));
  expect(selected.map((statement) => statement.includes('g.properties'))).toEqual(Array.from({ length: 4 }, () => isRead));
});

const isolation = expect.stringMatching(/^set transaction isolation level read committed/i);
const setsActor = expect.stringMatching(/set_config\('gateway.actor'/);
const begin = expect.stringMatching(/^begin/i);
const commit = expect.stringMatching(/^commit/i);

test('a user group token with a wrong checksum is refused without a query', async () => {
  const token = `${group.token.slice(0, -1)}${group.token.endsWith('0') ? '1' : '0'}`;
  await gateway.graphql('query ($token: String) { userGroup(by: { token: $token }) { teamId } }', { token });
  await gateway.send('POST', '/api/user', { body: { current_token: token } });
  expect(statements).toEqual([reads('api_token'), reads('api_token')]);
});

test('an API token with a wrong checksum is refused without a query', async () => {
  const token = `${gateway.token.slice(0, -1)}${gateway.token.endsWith('0') ? '1' : '0'}`;
  expect((await gateway.send('GET', '/api/user', { token, body: { user_group_id: 'acme' } })).status).toBe(401);
  expect(statements).toEqual([]);
});

/** The current secrets, then, for those that are not among them, the replaced ones too. */
const readsReplaced = [reads('api_token'), reads('api_token')];

test('an unknown API token costs two statements', async () => {
  await gateway.send('GET', '/api/user', { token: issueToken('apiToken'), body: { user_group_id: 'acme' } });
  expect(statements).toEqual(readsReplaced);
});

test('a secret that a rotation replaced costs two statements, in its overlap and after it', async () => {
  const { secret: token, id } = await gateway.issue();
  const context = contextOn(database);
  await rotateApiToken(context, id, 600);
  statements = [];
  expect((await gateway.graphql('{ caller { number } }', {}, { token })).json.data.caller.number).toBe(id);
  expect(statements).toEqual(readsReplaced);
  await rotateApiToken(context, id, 0);
  statements = [];
  expect((await gateway.graphql('{ caller { id } }', {}, { token })).status).toBe(401);
  expect(statements).toEqual(readsReplaced);
});

test('no credential, pages and liveness cost none', async () => {
  await gateway.send('GET', '/api/user', { token: null, body: { user_group_id: 'acme' } });
  await gateway.graphql('{ caller { id } __typename }', {}, { token: null });
  for (const path of ['/', '/livez', '/docs/errors']) await gateway.send('GET', path);
  expect(statements).toEqual([]);
});

test('input that is refused costs the statement for the API token and no other', async () => {
  const { secret: token } = await gateway.issue();
  statements = [];
  await gateway.send('GET', '/api/user', { token, body: { user_group_id: 'x'.repeat(256) } });
  await gateway.send('PUT', '/api/user', { token, body: { user_group_id: 'acme', name: 5 } });
  expect(statements).toEqual([reads('api_token'), reads('api_token')]);
});

const createToken = `mutation ($by: UserGroupBy!) { createEmbedToken(input: { by: $by }) { ... on CreateEmbedTokenPayload { token } } }`;

test('an embed token costs one statement each for the API token, the group and the signing keys; an introspection the same', async () => {
  const { secret: token } = await gateway.issue({ scopes: ['embed:sign', 'groups:resolve'] });
  const by = { teamId: group.team_id };
  await gateway.graphql(createToken, { by }, { token }); // creates the first key
  statements = [];
  const { json } = await gateway.graphql(createToken, { by }, { token });
  const embedToken = json.data.createEmbedToken.token;
  expect(statements).toEqual([reads('api_token'), reads('user_group'), reads('signing_key')]);

  statements = [];
  const introspect = (text: string) =>
    gateway.send('POST', '/oauth2/introspect', {
      token,
      body: `token=${text}`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
  expect((await introspect(embedToken)).json.active).toBe(true);
  expect(statements).toEqual([reads('api_token'), reads('signing_key'), reads('user_group')]);

  await introspect(group.token); // learns where the group is stored now
  statements = [];
  expect((await introspect(group.token)).json.active).toBe(true);
  expect(statements).toEqual([reads('api_token'), reads('user_group')]);
});

test('of embed tokens and introspections at the same time, two hundred share each statement', async () => {
  const context = contextOn(database, callerWith({ id: 1, name: 'test', environmentTag: null, scopes: ['admin'] }));
  const times200 = <Result>(work: () => Promise<Result>) => Promise.all(Array.from({ length: 200 }, work));
  await createEmbedToken(context, { teamId: group.team_id }, {}); // loads what signs, too

  statements = [];
  const [{ token } = { token: '' }] = await times200(() => createEmbedToken(context, { teamId: group.team_id }, {}));
  expect(statements).toEqual(expect.arrayContaining([reads('user_group'), reads('signing_key')]));
  expect(statements).toHaveLength(2);

  statements = [];
  const ofGroup = await times200(() => introspect(context, group.token));
  expect([ofGroup.every(({ active }) => active), statements]).toEqual([true, [reads('user_group')]]);

  statements = [];
  const ofEmbedToken = await times200(() => introspect(context, token));
  expect(ofEmbedToken.every(({ active }) => active)).toBe(true);
  // The groups are looked up as the signatures are verified, not all in one turn.
  expect(statements.filter((text) => text.includes('signing_key'))).toHaveLength(1);
});
