import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runHousekeeping } from '../../src/housekeeping/housekeeping.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
const secrets: Record<string, string> = {};

beforeAll(async () => {
  gateway = await startGateway();
  const callers = {
    admin: { environment: null, scopes: ['admin'] },
    testing: { environment: 'Testing', scopes: ['audit:read'] },
    customer: { environment: 'Customer', scopes: ['audit:read', 'groups:write'] },
  } as const;
  for (const [name, options] of Object.entries(callers)) {
    secrets[name] = (await gateway.issue({ ...options, scopes: [...options.scopes] })).secret;
  }
});
afterAll(() => gateway.close());

interface Page {
  readonly nodes: readonly { readonly id: string; readonly type: string; readonly providedId: string | null }[];
  readonly cursor: string;
  readonly hasMore: boolean;
}

interface Input {
  readonly after?: string;
  readonly first?: number;
  readonly types?: readonly string[];
  readonly waitSeconds?: number;
}

const query = `query ($after: String, $first: Int, $types: [EventType!], $waitSeconds: Int) {
  eventFeed(after: $after, first: $first, types: $types, waitSeconds: $waitSeconds) { nodes { id type providedId } cursor hasMore } }`;

async function send(input: Input, caller = 'admin', at = gateway) {
  const { json } = await at.graphql(query, { ...input }, { token: secrets[caller] ?? '' });
  return json;
}

async function read(input: Input = {}, caller?: string, at?: TestGateway): Promise<Page> {
  const { data, errors } = await send(input, caller, at);
  expect(errors).toBeUndefined();
  return data.eventFeed;
}

/** Waits until no gateway assigns positions, and finds an event that has none and is not locked. */
const unassigned = 'select from event_feed for share; select from event where position is null limit 1 for key share skip locked';

/**
 * Waits until every event that is committed, and not locked, has its position. A gateway assigns positions every few seconds, and
 * what is read meanwhile is without these events.
 */
async function untilAssigned(caller?: string, at = gateway): Promise<void> {
  for (let isOpen = true; isOpen; ) {
    await read({ after: 'latest' }, caller, at);
    const [, found] = (await at.database.pool.query(unassigned)) as unknown as pg.QueryResult[];
    isOpen = found?.rowCount !== 0;
  }
}

async function latest(caller?: string, at?: TestGateway): Promise<string> {
  await untilAssigned(caller, at);
  return (await read({ after: 'latest' }, caller, at)).cursor;
}

/** Every event behind a cursor, in pages of this size. */
async function follow(after: string | undefined, input: Input = {}, caller?: string) {
  const nodes: Page['nodes'][number][] = [];
  await untilAssigned();
  for (let cursor = after; ; ) {
    const page = await read({ ...input, ...(cursor !== undefined && { after: cursor }) }, caller);
    nodes.push(...page.nodes);
    cursor = page.cursor;
    if (!page.hasMore) return { nodes, cursor };
  }
}

const create = (providedId: string, token = gateway.token, at = gateway) =>
  at.send('GET', '/api/user', { token, body: { user_group_id: providedId } });

/** Inserts an event in a transaction that stays open. */
async function holdEvent(providedId: string) {
  const client = new pg.Client(gateway.database.url);
  await client.connect();
  await client.query('begin');
  await client.query(
    `insert into event (type, environment, actor_kind, actor_name, team_id, provided_id) values ('user_group.created', 'Testing', 'CLI', 'test', 1, $1)`,
    [providedId],
  );
  return {
    async commit() {
      await client.query('commit');
      await client.end();
    },
  };
}

describe('nothing appears behind a cursor', () => {
  test('an event that is committed after later ones comes after them, where the order of the audit log loses it', async () => {
    const start = await latest();
    const held = await holdEvent('held');
    await create('later');
    const before = await follow(start);
    const newest = `{ events(first: 1) { pageInfo { startCursor } } }`;
    const { json } = await gateway.graphql(newest, {}, { token: secrets.admin ?? '' });
    await held.commit();
    const after = await follow(before.cursor);
    expect([before.nodes, after.nodes].map((nodes) => nodes.map(({ providedId }) => providedId))).toEqual([['later'], ['held']]);
    const log = `query ($before: String) { events(last: 100, before: $before) { nodes { providedId } } }`;
    const { startCursor } = json.data.events.pageInfo;
    const behind = await gateway.graphql(log, { before: startCursor }, { token: secrets.admin ?? '' });
    expect(behind.json.data.events.nodes).toEqual([]);
  });

  test('an open transaction holds up nobody', async () => {
    const start = await latest();
    const held = await holdEvent('import');
    for (const name of ['a', 'b', 'c']) await create(`beside-${name}`);
    const { nodes } = await follow(start, { first: 2 });
    expect(nodes.map(({ providedId }) => providedId)).toEqual(['beside-a', 'beside-b', 'beside-c']);
    await held.commit();
  });

  test('with several writers, readers and gateways, the pages have every event once, and those of a group in order', async () => {
    const others = await Promise.all([1, 2].map(() => startGateway(gateway.database)));
    const start = await latest();
    const all = [gateway, ...others];
    let isWriting = true;
    const readers = all.map(async (at) => {
      const ids: string[] = [];
      for (let cursor = start; ; ) {
        const isComplete =
          !isWriting && (await at.database.pool.query('select from event where position is null limit 1')).rowCount === 0;
        const page = await read({ after: cursor, first: 7 }, 'admin', at);
        ids.push(...page.nodes.map(({ id }) => id));
        cursor = page.cursor;
        if (isComplete && !page.hasMore && page.nodes.length === 0) return ids;
      }
    });
    const writers = all.map(async (at, writer) => {
      for (let round = 0; round < 3; round += 1) {
        const held = await holdEvent(`open-${writer}-${round}`);
        const send = (method: string, body: object, headers = {}) =>
          at.send(method, '/api/user', { token: gateway.token, body, headers });
        const id = `many-${writer}-${round}`;
        await send('GET', { user_group_id: id }, { 'idempotency-key': id });
        await send('PUT', { user_group_id: id, name: 'one' });
        await Promise.all([held.commit(), send('PUT', { user_group_id: id, name: 'two' })]);
      }
    });
    await Promise.all(writers);
    isWriting = false;
    const read1 = await Promise.all(readers);
    for (const other of others) await other.close();
    const { nodes } = await follow(start);
    expect(nodes).toHaveLength(3 * 3 * 4);
    for (const ids of read1) expect(ids).toEqual(nodes.map(({ id }) => id));
    const types = nodes.filter(({ providedId }) => providedId === 'many-0-0').map(({ type }) => type);
    expect(types).toEqual(['USER_GROUP_CREATED', 'USER_GROUP_UPDATED', 'USER_GROUP_UPDATED']);
    expect(new Set(nodes.map(({ id }) => id)).size).toBe(nodes.length);
  });
});

describe('pages', () => {
  test('without a cursor begin at the oldest event, and have the ids of the audit log', async () => {
    await create('first');
    const { nodes } = await follow(undefined, { first: 3 });
    const { rows } = await gateway.database.pool.query('select type from event order by position');
    expect(nodes.map(({ type }) => type.toLowerCase().replace(/^(user_group|api_token)_/, '$1.'))).toEqual(
      rows.map(({ type }) => type),
    );
    const node = await gateway.graphql(
      'query ($id: ID!) { node(id: $id) { id } }',
      { id: nodes[0]?.id },
      { token: secrets.admin ?? '' },
    );
    expect(node.json.data.node.id).toBe(nodes[0]?.id);
  });

  test('have the events that the caller may read', async () => {
    const start = await latest();
    await create('of-testing');
    await create('of-customers', secrets.customer);
    const of = async (caller: string) => (await follow(start, {}, caller)).nodes.map(({ providedId }) => providedId);
    expect(await Promise.all(['admin', 'testing', 'customer'].map(of))).toEqual([
      ['of-testing', 'of-customers'],
      ['of-testing'],
      ['of-customers'],
    ]);
  });

  test('of some types skip the others', async () => {
    const start = await latest();
    await gateway.database.pool.query(`insert into event (type, environment, actor_kind, actor_name, provided_id)
      select case when n = 2500 then 'user_group.deleted' else 'user_group.updated' end, 'Testing', 'CLI', 'test', n from generate_series(1, 3000) n`);
    const { nodes } = await follow(start, { types: ['USER_GROUP_DELETED'], first: 10 });
    expect(nodes).toMatchObject([{ providedId: '2500' }]);
  });

  test.each([
    ['a cursor of another text', { after: 'abc' }, 'after'],
    ['a page of too many', { first: 101 }, 'first'],
    ['no type', { types: [] }, 'types'],
    ['too long a wait', { waitSeconds: 9 }, 'waitSeconds'],
  ] as const)('are refused for %s', async (_, input, path) => {
    const { errors } = await send(input);
    expect(errors[0].extensions).toMatchObject({ code: 'INVALID_INPUT', issues: [{ path: [path] }] });
  });
});

describe('waiting', () => {
  test('ends with the next event, also of another gateway', async () => {
    const other = await startGateway(gateway.database);
    const after = await latest();
    const waiting = read({ after, waitSeconds: 8 });
    await other.send('GET', '/api/user', { token: gateway.token, body: { user_group_id: 'awaited' } });
    expect((await waiting).nodes).toMatchObject([{ providedId: 'awaited' }]);
    await other.close();
  });

  test('goes on past events that the caller may not read, and ends without one', async () => {
    const after = await latest();
    const waiting = read({ after, waitSeconds: 4 }, 'testing'); // long enough for a busy machine to store the event
    await create('hidden', secrets.customer);
    const page = await waiting;
    expect(page).toMatchObject({ nodes: [], hasMore: false });
    expect(page.cursor).not.toBe(after);
  });

  test('holds no connection of the database', async () => {
    const after = await latest();
    let ended = 0;
    const waiting = Array.from({ length: 100 }, () => read({ after, waitSeconds: 8 }).finally(() => (ended += 1)));
    const { pool } = gateway.database;
    await expect.poll(() => pool.totalCount - pool.idleCount).toBe(0);
    await create('for-all');
    expect(ended).toBe(0);
    expect((await Promise.all(waiting)).map(({ nodes }) => nodes.length)).toEqual(Array(100).fill(1));
  });

  test('ends at once when the gateway stops', async () => {
    const other = await startGateway(gateway.database);
    const after = await latest();
    const ended: string[] = [];
    const waiting = read({ after, waitSeconds: 8 }, 'admin', other).finally(() => ended.push('stopping'));
    const elsewhere = read({ after, waitSeconds: 3 }).finally(() => ended.push('elsewhere'));
    other.drain();
    expect(await Promise.all([waiting, elsewhere])).toMatchObject(Array(2).fill({ nodes: [], hasMore: false, cursor: after }));
    expect(ended).toEqual(['stopping', 'elsewhere']);
    await other.close();
  });
});

describe('a cursor expires', () => {
  const expectExpired = async (after: string) =>
    expect((await send({ after })).errors[0].extensions).toMatchObject({ code: 'CURSOR_EXPIRED' });

  test('when events behind it were removed because of their age, and none before', async () => {
    const start = await latest();
    await gateway.database.pool.query(`insert into event (type, environment, actor_kind, actor_name, occurred_at)
      values ('user_group.deleted', 'Testing', 'CLI', 'test', now() - interval '3 days'), ('user_group.deleted', 'Testing', 'CLI', 'test', now())`);
    await untilAssigned();
    const first = await read({ after: start, first: 1 });
    const { events } = await runHousekeeping(gateway.database, { retentionDays: 1 });
    expect(events).toBe(1);
    await expectExpired(start);
    expect((await follow(first.cursor)).nodes).toMatchObject([{ type: 'USER_GROUP_DELETED' }]);
  });

  test('when its epoch is over, as `restore` ends it', async () => {
    const start = await latest();
    await gateway.database.pool.query('update event_feed set epoch = gen_random_uuid()');
    await expectExpired(start);
    const next = await latest();
    await create('of the next epoch');
    expect((await follow(next)).nodes).toMatchObject([{ providedId: 'of the next epoch' }]);
  });
});

const get = (parameters: string) => gateway.send('GET', `/api/events?${parameters}`, { token: secrets.admin ?? '' });

test('REST has the same feed, with its parameters', async () => {
  await untilAssigned();
  const start = (await get('after=latest')).json.cursor;
  await create('over-rest');
  await untilAssigned();
  const { status, json } = await get(`after=${start}&limit=10&types=user_group.created,user_group.deleted&wait_seconds=1`);
  expect([status, json]).toMatchObject([
    200,
    {
      success: 1,
      has_more: false,
      events: [{ type: 'user_group.created', provided_id: 'over-rest', environment: 'Testing', actor: { kind: 'API_TOKEN' } }],
    },
  ]);
  expect(json.events[0].id).toBe((await follow(start)).nodes[0]?.id);
});

test.each<[string, string[], object?]>([
  ['', [], { after: 'latest', limit: 1 }],
  ['after=x', ['after']],
  ['limit=101', ['limit']],
  ['limit=1&limit=2', ['limit']],
  ['types=user_group.created,x', ['types']],
  ['wait_seconds=9', ['wait_seconds']],
  ['waitSeconds=1', ['waitSeconds']],
])('REST refuses %j', async (parameters, path, body) => {
  const sent = { token: secrets.admin ?? '', ...(body && { body }) };
  const { status, json } = await gateway.send('GET', `/api/events?${parameters}`, sent);
  expect([status, json]).toMatchObject([400, { code: 'INVALID_INPUT', issues: [{ path }] }]);
});
