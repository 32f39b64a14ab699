import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createEventBytes } from '../../src/audit-log/record.ts';
import { bindFeed } from '../../src/audit-log/statements/feed.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { until } from '../support/process.ts';

let database: TestDatabase;
let gateway: TestGateway;
beforeAll(async () => {
  database = await createTestDatabase();
  gateway = await startGateway(database);
});
afterAll(async () => {
  await gateway.close();
  await database.close();
});

/** The changes of the latest event, and their bytes. */
async function latest() {
  const { rows } = await database.pool.query<{ changes: Record<string, unknown>; bytes: number }>(
    'select changes, octet_length(changes::text) as bytes from event order by id desc limit 1',
  );
  return rows[0];
}

const longest = 'x'.repeat(4_094); // 4,096 bytes with its quotes
const large = { text: 'é"\n'.repeat(5_000) };
const digest = (value: unknown) => {
  const text = JSON.stringify(value);
  return { bytes: Buffer.byteLength(text), sha256: createHash('sha256').update(text).digest('hex') };
};
const long = `x${longest}`;

const put = (properties: unknown) => gateway.send('PUT', '/api/user', { body: { user_group_id: 'g', properties } });
const patch = (properties: unknown) =>
  gateway.graphql(
    'mutation ($patch: JSON!) { updateUserGroup(input: { by: { providedId: "g" }, mergeProperties: $patch }) { __typename } }',
    { patch: properties },
  );

test('an event has values of up to 4 KiB, and of larger ones the length and the SHA-256', async () => {
  const none = { from: null, to: 'g' };
  await gateway.send('GET', '/api/user', { body: { user_group_id: 'g', properties: { a: 1, longest, large } } });
  expect(await latest()).toMatchObject({
    changes: {
      name: none,
      properties: { from: null, to: { a: 1, longest }, omitted: { from: {}, to: { large: digest(large) } } },
    },
  });

  await put({ a: 2, longest: long, large: 'small' });
  expect((await latest())?.changes).toEqual({
    properties: {
      from: { a: 1, longest },
      to: { a: 2, large: 'small' },
      omitted: { from: { large: digest(large) }, to: { longest: digest(long) } },
    },
  });

  await patch({ a: null, large });
  expect((await latest())?.changes).toEqual({
    properties: { from: { a: 2, large: 'small' }, to: {}, omitted: { from: {}, to: { large: digest(large) } } },
  });

  await put(null);
  expect(await latest()).toEqual({
    changes: { properties: { from: {}, to: null, omitted: { from: { longest: digest(long), large: digest(large) }, to: {} } } },
    bytes: expect.toSatisfy((bytes: number) => bytes < 400),
  });

  await put({ b: 1 });
  expect((await latest())?.changes).toEqual({ properties: { from: null, to: { b: 1 } } });
});

describe('an API token that has recorded too much', () => {
  let hours = 0;
  /** 60 KB in values that events have. */
  const many = (value: number) =>
    Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`p${index}`, `${value}`.padEnd(1_000)]));

  async function fill() {
    hours = 0;
    await database.prisma.userGroup.deleteMany();
    const eventBytes = createEventBytes(400_000, () => hours * 3_600 + 600);
    const limited = await startGateway(database, { introspection: true, eventBytes });
    onTestFinished(() => limited.close());
    const update = (value: number, token = limited.token) =>
      limited.send('PUT', '/api/user', { token, body: { user_group_id: 'full', properties: many(value) } });
    await limited.send('GET', '/api/user', { body: { user_group_id: 'full', properties: many(0) } });
    for (const value of [1, 1, 2, 2, 2, 3]) expect(await update(value)).toMatchObject({ status: 200 });
    return { limited, update };
  }

  const outcomeOf = ({ status, headers, json }: Awaited<ReturnType<TestGateway['send']>>) => ({
    status,
    retryAfter: headers.get('retry-after'),
    code: json.code ?? json.errors?.[0].extensions.code,
  });
  /** What was recorded ten minutes after an hour counts until 25 hours after that hour. */
  const refused = (retryAfterSeconds: number) => ({ status: 429, retryAfter: `${retryAfterSeconds}`, code: 'RATE_LIMITED' });
  const refusedAtOnce = refused(25 * 3_600 - 600);
  const bulk = `mutation ($properties: JSON) {
    getOrCreateUserGroups(input: { groups: [{ providedId: "large", properties: $properties }] }) { __typename }
  }`;
  const merge = `mutation ($properties: JSON!) {
    updateUserGroup(input: { by: { providedId: "full" }, mergeProperties: $properties }) { __typename }
  }`;

  test('gets 429 with Retry-After for further changes of properties, and nothing is changed', async () => {
    const { limited, update } = await fill();
    const events = await database.prisma.event.count();
    expect(outcomeOf(await update(4))).toEqual(refusedAtOnce);
    const body = { user_group_id: 'large', properties: many(0) };
    expect(outcomeOf(await limited.send('GET', '/api/user', { body }))).toEqual(refusedAtOnce);
    for (const document of [bulk, merge]) {
      expect(outcomeOf(await limited.graphql(document, { properties: many(4) }))).toEqual(refusedAtOnce);
    }
    expect(await database.prisma.event.count()).toBe(events);
    expect(await database.prisma.userGroup.findMany({ where: { providedId: { in: ['full', 'large'] } } })).toMatchObject([
      { providedId: 'full', properties: many(3) },
    ]);
  });

  test('creates no group, gets existing ones, and changes all again a day later; other API tokens are not affected', async () => {
    const { limited, update } = await fill();
    const get = (id: string) => limited.send('GET', '/api/user', { body: { user_group_id: id } });
    expect(outcomeOf(await get('small'))).toEqual(refusedAtOnce);
    expect(await get('full')).toMatchObject({ status: 200 });
    expect(await update(4, (await limited.issue()).secret)).toMatchObject({ status: 200 });
    hours += 24;
    expect(outcomeOf(await update(5))).toEqual(refused(3_000));
    hours += 1;
    expect(await update(5)).toMatchObject({ status: 200 });
  });

  test('has recorded it in small changes, too', async () => {
    await database.prisma.userGroup.deleteMany();
    const limited = await startGateway(database, { introspection: true, eventBytes: createEventBytes(3_200) });
    onTestFinished(() => limited.close());
    const properties = { text: 'x'.repeat(900) };
    await gateway.send('GET', '/api/user', { body: { user_group_id: 'a', properties } });
    const update = (changes: object) => limited.send('PUT', '/api/user', { body: { user_group_id: 'a', ...changes } });
    const statuses = [];
    // 1,393 bytes twice, none, and 469.
    for (const changes of [{ properties: { text: 'y' } }, { properties }, { properties }, { name: 'A' }, { name: 'B' }])
      statuses.push((await update(changes)).status);
    expect(statuses).toEqual([200, 200, 200, 200, 429]);
  });

  test('has recorded it in new groups, by name, properties and mapping', async () => {
    await database.prisma.userGroup.deleteMany();
    const limited = await startGateway(database, { introspection: true, eventBytes: createEventBytes(3_800) });
    onTestFinished(() => limited.close());
    const group = { name: 'n'.repeat(200), properties: { a: 'p'.repeat(400) }, mapping: { s: 'm'.repeat(200) } };
    const statuses = [];
    for (const id of ['a', 'b', 'c', 'd'])
      statuses.push((await limited.send('GET', '/api/user', { body: { user_group_id: id, ...group } })).status);
    expect(statuses).toEqual([200, 200, 200, 429]);
  });

  test('has recorded it in rotations, moves and deletions, which stay permitted', async () => {
    await database.prisma.userGroup.deleteMany();
    const limited = await startGateway(database, { introspection: true, eventBytes: createEventBytes(1_200) });
    onTestFinished(() => limited.close());
    const { secret: token } = await limited.issue({ scopes: ['admin'] });
    const created = await gateway.send('GET', '/api/user', { body: { user_group_id: 'a' } });
    const { token: currentToken } = created.json.user_group;
    const send = async (document: string) =>
      outcomeOf(await limited.graphql(`mutation { ${document} { __typename } }`, {}, { token }));
    const permitted = { status: 200, retryAfter: null, code: undefined };
    expect(await send(`rotateUserGroupToken(input: { currentToken: "${currentToken}" })`)).toEqual(permitted);
    expect(await send('setUserGroupEnvironment(input: { by: { providedId: "a" }, environmentTag: CUSTOMER })')).toEqual(
      permitted,
    );
    expect(await send('setUserGroupEnvironment(input: { by: { providedId: "a" }, environmentTag: CUSTOMER })')).toEqual(
      permitted,
    );
    expect(await send('updateUserGroup(input: { by: { providedId: "a" }, name: "b" })')).toEqual(permitted);
    expect(await send('updateUserGroup(input: { by: { providedId: "a" }, name: "c" })')).toMatchObject({ code: 'RATE_LIMITED' });
    expect(await send('deleteUserGroup(input: { by: { providedId: "a" } })')).toEqual(permitted);
  });

  test('of two mutations in one request, the first is made and the second one refused', async () => {
    await database.prisma.userGroup.deleteMany();
    const limited = await startGateway(database, { introspection: true, eventBytes: createEventBytes(1) });
    onTestFinished(() => limited.close());
    await gateway.send('GET', '/api/user', { body: { user_group_id: 'a' } });
    const rename = (name: string) =>
      `${name}: updateUserGroup(input: { by: { providedId: "a" }, name: "${name}" }) { __typename }`;
    const { status, json } = await limited.graphql(`mutation { ${rename('first')} ${rename('second')} }`);
    expect([status, json.data, json.errors]).toMatchObject([
      200,
      { first: { __typename: 'UpdateUserGroupPayload' }, second: null },
      [{ path: ['second'], extensions: { code: 'RATE_LIMITED' } }],
    ]);
    expect(await database.prisma.userGroup.findMany()).toMatchObject([{ name: 'first' }]);
  });
});

test.each([
  ['short', { tokenName: 't', requestId: 'r', id: (index: number) => `g${index}` }],
  [
    'long',
    {
      tokenName: '\u{1f600}'.repeat(255),
      requestId: 'r'.repeat(128),
      id: (index: number) => `${index}${'\u{1f600}'.repeat(240)}`,
    },
  ],
])(
  'what counts is at least what the events take of the database, also with %s texts',
  async (_, { tokenName, requestId, id }) => {
    const fresh = await createTestDatabase();
    onTestFinished(() => fresh.close());
    const eventBytes = createEventBytes();
    const count = vi.spyOn(eventBytes, 'count');
    const limited = await startGateway(fresh, { introspection: true, eventBytes });
    onTestFinished(() => limited.close());
    const { secret: token, id: tokenId } = await limited.issue({ scopes: ['admin'], environment: 'Testing' });
    await fresh.prisma.apiToken.update({ where: { id: tokenId }, data: { name: tokenName } });
    const send = async (document: string, variables: object) => {
      const options = { token, headers: { 'x-request-id': requestId } };
      const { json } = await limited.graphql(document, { ...variables }, options);
      expect(json.errors).toBeUndefined();
      return json.data;
    };
    const create = `mutation ($groups: [GetOrCreateUserGroupInput!]!) { getOrCreateUserGroups(input: { groups: $groups }) {
    ... on GetOrCreateUserGroupsPayload { results { ... on GetOrCreateUserGroupPayload { userGroup { token } } } } } }`;
    const change = `mutation ($currentToken: String!, $by: UserGroupBy!) {
    rotateUserGroupToken(input: { currentToken: $currentToken }) { __typename }
    move: setUserGroupEnvironment(input: { by: $by, environmentTag: CUSTOMER }) { __typename }
    updateUserGroup(input: { by: $by, name: "m" }) { __typename }
    deleteUserGroup(input: { by: $by }) { __typename }
  }`;
    for (let batch = 0; batch < 3; batch += 1) {
      const ids = Array.from({ length: 100 }, (_, index) => id(batch * 100 + index));
      const data = await send(create, { groups: ids.map((providedId) => ({ providedId, name: 'n' })) });
      const tokens = data.getOrCreateUserGroups.results.map((each: { userGroup: { token: string } }) => each.userGroup.token);
      await Promise.all(ids.map((providedId, index) => send(change, { currentToken: tokens[index], by: { providedId } })));
    }
    // Each event gets its position in the feed shortly after its commit, and is then in another index.
    const feed = bindFeed(fresh);
    await until(async () => {
      await feed.assign();
      return (await fresh.prisma.event.count({ where: { position: null } })) === 0;
    }, 'every event has its position');
    // Of a copy, without earlier versions of rows and the pages that PostgreSQL adds in advance; its indexes are just built.
    await fresh.pool.query('create table event_copy (like event including all)');
    const size = async () => {
      const text =
        "select pg_total_relation_size('event_copy')::int as whole, (select sum(pg_column_size(e.*))::int from event_copy e) as rows";
      return (await fresh.pool.query<{ whole: number; rows: number }>(text)).rows[0];
    };
    const empty = await size();
    await fresh.pool.query('insert into event_copy overriding system value select * from event');
    await fresh.pool.query('reindex table event_copy');
    const taken = await size();
    const counted = count.mock.calls.reduce((sum, [, bytes]) => sum + bytes, 0);
    const events = await fresh.prisma.event.count();
    expect(events).toBeGreaterThanOrEqual(1_200);
    expect(counted).toBeGreaterThanOrEqual(taken?.rows ?? Infinity);
    // With its indexes.
    expect(counted).toBeGreaterThanOrEqual((taken?.whole ?? Infinity) - (empty?.whole ?? 0));
  },
);
