import pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { type FollowState, loadFollowedExample } from '../support/followed-example.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { until } from '../support/process.ts';

/** A group as the example returns it. */
interface Group {
  readonly providedId: string;
  readonly name: string;
}

let gateway: TestGateway;
let readChangedGroups: (state?: FollowState) => Promise<{ groups: Group[]; state: FollowState }>;
/** An API token of each environment that may write. */
let writers: string[];
let reader: string;
beforeAll(async () => {
  gateway = await startGateway();
  const loaded = await loadFollowedExample<{ readChangedGroups: typeof readChangedGroups }>('docs/concepts.md', gateway);
  ({ readChangedGroups } = loaded.module);
  ({ writers, reader } = loaded);
  vi.stubEnv('GATEWAY', gateway.url);
  vi.stubEnv('API_TOKEN', reader);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await gateway.close();
});

/** Makes requests with an Idempotency-Key wait between their change and its commit. */
async function holdCommits() {
  const holder = new pg.Client(gateway.database.url);
  await holder.connect();
  holder.on('error', () => {});
  onTestFinished(() => holder.end());
  await holder.query('begin; lock table idempotency_record in exclusive mode');
  const waiting = `select 1 from pg_locks join pg_database d on d.oid = database
    where not granted and relation = 'idempotency_record'::regclass and datname = current_database()`;
  return {
    untilWaiting: (count: number) =>
      until(async () => (await holder.query(waiting)).rowCount === count, `${count} transactions wait before their commit`),
    release: () => holder.query('commit'),
  };
}

const create = (token: string | undefined, id: string, headers: Record<string, string> = {}) => {
  const mutation = 'mutation ($id: String!) { getOrCreateUserGroup(input: { providedId: $id }) { __typename } }';
  return gateway.graphql(mutation, { id }, { token: token ?? '', headers });
};

const idsOf = (groups: readonly Group[]) => groups.map(({ providedId }) => providedId).sort();

/** The first page of a list. */
async function list(args: string) {
  const query = `{ userGroups(first: 100, ${args}) { nodes { providedId updatedAt } pageInfo { endCursor } } }`;
  const { json } = await gateway.graphql(query, {}, { token: reader });
  return json.data.userGroups as { nodes: (Group & { updatedAt: string })[]; pageInfo: { endCursor: string } };
}

test('the example returns every creation and every change once, those of transactions that were open included', async () => {
  for (const [index, token] of writers.entries()) await create(token, `group-${index}`);
  const first = await readChangedGroups();
  expect(idsOf(first.groups)).toEqual(['group-0', 'group-1', 'group-2']);

  const commits = await holdCommits();
  const held = [
    create(writers[0], 'held-0', { 'idempotency-key': 'create-0' }),
    create(writers[1], 'held-1', { 'idempotency-key': 'create-1' }),
    gateway.send('PUT', '/api/user', {
      token: writers[2] ?? '',
      headers: { 'idempotency-key': 'update-2' },
      body: { user_group_id: 'group-2', name: 'held' },
    }),
  ];
  await commits.untilWaiting(held.length);
  for (const [index, token] of writers.entries()) await create(token, `later-${index}`);
  const second = await readChangedGroups(first.state);
  const order = 'orderBy: { field: CREATED, direction: ASC }';
  const { pageInfo, nodes } = await list(order);
  await commits.release();
  expect((await Promise.all(held)).map(({ status }) => status)).toEqual([200, 200, 200]);

  // Neither a cursor nor the last time finds them.
  expect(idsOf((await list(`${order}, after: "${pageInfo.endCursor}"`)).nodes)).toEqual([]);
  const from = new Date(Math.max(...nodes.map(({ updatedAt }) => Date.parse(updatedAt)))).toISOString();
  const sinceLast = idsOf((await list(`filter: { updatedAt: { from: "${from}" } }`)).nodes);
  expect(sinceLast.filter((id) => !id.startsWith('later-'))).toEqual([]);

  expect(idsOf(second.groups)).toEqual(['later-0', 'later-1', 'later-2']);
  const third = await readChangedGroups(second.state);
  expect(idsOf(third.groups)).toEqual(['group-2', 'held-0', 'held-1']);
  expect(third.groups.map(({ name }) => name)).toContain('held');
  expect((await readChangedGroups(third.state)).groups).toEqual([]);
});

test('the example reads several pages, what was changed first first', async () => {
  const { state } = await readChangedGroups();
  const mutation =
    'mutation ($groups: [GetOrCreateUserGroupInput!]!) { getOrCreateUserGroups(input: { groups: $groups }) { __typename } }';
  for (const part of [0, 1, 2]) {
    const groups = Array.from({ length: 90 }, (_, index) => ({ providedId: `many-${part}-${index}` }));
    await gateway.graphql(mutation, { groups });
  }
  const { groups, state: next } = await readChangedGroups(state);
  expect(new Set(idsOf(groups)).size).toBe(270);
  expect([groups.at(0)?.providedId, groups.at(-1)?.providedId]).toEqual([
    expect.stringMatching(/^many-0-/),
    expect.stringMatching(/^many-2-/),
  ]);
  await gateway.send('PUT', '/api/user', { body: { user_group_id: 'many-1-5', name: 'changed' } });
  expect((await readChangedGroups(next)).groups).toMatchObject([{ providedId: 'many-1-5', name: 'changed' }]);
});
