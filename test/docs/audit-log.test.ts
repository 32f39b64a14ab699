import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { type FollowState, loadFollowedExample } from '../support/followed-example.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { endProcesses, launch, until } from '../support/process.ts';

/** An event as the example returns it. */
interface Event {
  readonly id: string;
  readonly type: string;
  readonly providedId: string;
  readonly changes: Readonly<Record<string, { readonly to: unknown }>>;
}

let gateway: TestGateway;
let readNewEvents: (state?: FollowState) => Promise<{ events: Event[]; state: FollowState }>;
/** An API token of each environment that may write. */
let writers: string[];
let reader: string;
beforeAll(async () => {
  gateway = await startGateway();
  const loaded = await loadFollowedExample<{ readNewEvents: typeof readNewEvents }>('docs/audit-log.md', gateway);
  ({ readNewEvents } = loaded.module);
  ({ writers, reader } = loaded);
});
beforeEach(() => {
  vi.stubEnv('GATEWAY', gateway.url);
  vi.stubEnv('AUDIT_API_TOKEN', reader);
});
afterEach(endProcesses);
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

const create = (token: string | undefined, id: string) =>
  gateway.send('GET', '/api/user', { token: token ?? '', body: { user_group_id: id } });

/** Updates a group in a transaction of several statements. */
const updateWithKey = (token: string, id: string) =>
  gateway.send('PUT', '/api/user', {
    token,
    headers: { 'idempotency-key': `update-${id}` },
    body: { user_group_id: id, name: 'updated' },
  });

const stored = async () => (await gateway.database.prisma.event.findMany({ where: { teamId: { not: null } } })).length;
const ofGroups = (events: readonly Event[]) => events.filter(({ type }) => type.startsWith('USER_GROUP_'));
const updated = (events: readonly Event[]) =>
  events.filter(({ type }) => type === 'USER_GROUP_UPDATED').map(({ providedId }) => providedId);

/** What is newer than a position: how a list without late items could be followed. */
async function readBefore(before: string) {
  const query = 'query ($before: String!) { events(last: 100, before: $before) { nodes { type providedId } } }';
  return (await gateway.graphql(query, { before }, { token: reader })).json.data.events.nodes as Event[];
}

const readCursor = async () =>
  (await gateway.graphql('{ events(first: 1) { pageInfo { startCursor } } }', {}, { token: reader })).json.data.events.pageInfo
    .startCursor as string;

test('the example returns every event once, those of transactions that were open included, which a cursor misses', async () => {
  for (const [index, token] of writers.entries()) await create(token, `group-${index}`);
  const first = await readNewEvents();
  const commits = await holdCommits();
  const updates = writers.map((token, index) => updateWithKey(token, `group-${index}`));
  await commits.untilWaiting(writers.length);
  for (const [index, token] of writers.entries()) await create(token, `later-${index}`);
  const second = await readNewEvents(first.state);
  const cursor = await readCursor();
  await commits.release();
  expect((await Promise.all(updates)).map(({ status }) => status)).toEqual([200, 200, 200]);
  for (const [index, token] of writers.entries()) await create(token, `last-${index}`);

  expect(updated(await readBefore(cursor))).toEqual([]);
  const third = await readNewEvents(second.state);
  expect(updated(second.events)).toEqual([]);
  expect(updated(third.events).sort()).toEqual(['group-0', 'group-1', 'group-2']);
  const ids = ofGroups([first, second, third].flatMap(({ events }) => events)).map(({ id }) => id);
  expect([ids.length, new Set(ids).size]).toEqual([await stored(), await stored()]);
  expect((await readNewEvents(third.state)).events).toEqual([]);
});

test('the example reads several pages, the oldest event first', async () => {
  const { state } = await readNewEvents();
  const groups = Array.from({ length: 250 }, (_, index) => ({ providedId: `many-${index}` }));
  const mutation =
    'mutation ($groups: [GetOrCreateUserGroupInput!]!) { getOrCreateUserGroups(input: { groups: $groups }) { __typename } }';
  for (const part of [groups.slice(0, 100), groups.slice(100, 200), groups.slice(200)])
    await gateway.graphql(mutation, { groups: part });
  const { events } = await readNewEvents(state);
  expect(new Set(events.map(({ providedId }) => providedId)).size).toBe(250);
  expect(events.at(0)?.providedId).toMatch(/^many-\d\d?$/);
  expect(events.at(-1)?.providedId).toMatch(/^many-2\d\d$/);
});

test('the example returns the event of an import as it runs, and again with the final counts', async () => {
  const { state } = await readNewEvents();
  const line = (index: number) => `${JSON.stringify({ user_group_id: `imported-${index}` })}\n`;
  const lines = Array.from({ length: 2_500 }, (_, index) => line(index));
  const settings = { DATABASE_URL: gateway.database.url };
  const { child, ended } = launch(process.execPath, ['dist/main.js', 'groups', 'import', '-'], settings, {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin?.write(lines.slice(0, 1_500).join(''));
  const first = await until(async () => {
    const read = await readNewEvents(state);
    return read.events.length > 0 ? read : undefined;
  }, 'the first batch is written');
  child.stdin?.end(lines.slice(1_500).join(''));
  expect(await ended).toMatchObject({ code: 0 });
  const second = await readNewEvents(first.state);

  const changes = [...first.events, ...second.events].map((event) => event.changes);
  expect(changes.at(-1)?.['created']?.to).toBe(2_500);
  expect(new Set(changes.map((each) => each['import']?.to)).size).toBe(1);
  const query = '{ events(filter: { types: [USER_GROUP_IMPORTED] }) { nodes { id } } }';
  const { json } = await gateway.graphql(query, {}, { token: reader });
  expect(json.data.events.nodes).toEqual([{ id: second.events.at(-1)?.id }]);
});
