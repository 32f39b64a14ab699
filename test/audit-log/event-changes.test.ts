import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

const changesBytes = 200_000;

let database: TestDatabase;
let gateway: TestGateway;
let token: string;
let eventId: string;
let received: () => number;

beforeAll(async () => {
  database = await createTestDatabase();
  const sockets: { readonly bytesRead: number }[] = [];
  database.pool.on('connect', (client) =>
    sockets.push((client as unknown as { connection: { stream: { bytesRead: number } } }).connection.stream),
  );
  received = () => sockets.reduce((sum, { bytesRead }) => sum + bytesRead, 0);
  gateway = await startGateway(database);
  await database.pool.query(
    `insert into event (type, environment, actor_kind, actor_name, changes)
    select 'user_group.updated', 'Testing', 'API_TOKEN', 'test', json_build_object('name', repeat('x', ${changesBytes}))
    from generate_series(1, 10)`,
  );
  token = (await gateway.issue({ scopes: ['groups:read', 'audit:read'] })).secret;
  const { json } = await gateway.graphql(
    '{ events(first: 1, filter: { types: [USER_GROUP_UPDATED] }) { nodes { id } } }',
    {},
    { token },
  );
  eventId = json.data.events.nodes[0].id;
});
afterAll(async () => {
  await gateway.close();
  await database.close();
});

/** How many bytes the database sends for a request. */
async function bytesOf(query: string): Promise<number> {
  const before = received();
  const { json } = await gateway.graphql(query, {}, { token });
  expect(json.errors).toBeUndefined();
  return received() - before;
}

test.each([
  ['a list', 10, (fields: string) => `{ events(first: 10) { edges { node { ${fields} } } } }`],
  [
    'a filtered list',
    10,
    (fields: string) => `{ events(first: 10, filter: { types: [USER_GROUP_UPDATED] }) { nodes { ${fields} } } }`,
  ],
  ['a node', 1, (fields: string) => `{ node(id: "${eventId}") { ... on Event { ${fields} } } }`],
  ['nodes', 1, (fields: string) => `query { nodes(ids: ["${eventId}"]) { ...Fields } } fragment Fields on Event { ${fields} }`],
])('the changes of events are read from the database only if they are selected: %s', async (_, count, queryOf) => {
  expect(await bytesOf(queryOf('type actor { name }'))).toBeLessThan(changesBytes / 10);
  expect(await bytesOf(queryOf('type changes'))).toBeGreaterThan(count * changesBytes);
});
