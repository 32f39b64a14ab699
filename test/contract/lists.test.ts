import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeCursor } from '../../src/database/list.ts';
import { createWebhook } from '../../src/webhooks/webhooks.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { storedToken } from '../support/keys.ts';
import { contextOn } from '../support/queries.ts';

let gateway: TestGateway;
let admin: string;
let webhookId: string;
const count = 11;

beforeAll(async () => {
  gateway = await startGateway();
  admin = (await gateway.issue({ environment: null, scopes: ['admin'] })).secret;
  const { prisma } = gateway.database;
  const context = contextOn(gateway.database);
  for (let index = 0; index < count; index += 1) {
    await gateway.issue({ environment: index % 2 === 0 ? 'Customer' : null });
    await createWebhook(context, { url: `https://hooks.invalid/${index}` });
  }
  // Of three environments; several with one name and one time, which only the team id tells apart.
  const data = Array.from({ length: 2 * count }, (_, index) => ({
    providedId: `group ${index}`,
    environmentTag: (['Customer', 'Testing', null] as const)[index % 3] ?? null,
    name: `Name ${index % 4}`,
    createdAt: new Date(Date.UTC(2026, 0, 1, 0, 0, index % 5)),
    ...storedToken(`an imported token ${index}`),
  }));
  await prisma.userGroup.createMany({ data });
  const { id } = await prisma.webhook.findFirstOrThrow({ orderBy: { id: 'asc' } });
  webhookId = Buffer.from(`Webhook:${id}`).toString('base64');
  const delivery = (index: number) => ({
    webhookId: id,
    eventId: `test_${index}`,
    type: 'webhook.test',
    body: '{}',
    status: index % 2 === 0 ? ('FAILED' as const) : ('DELIVERED' as const),
  });
  await prisma.webhookDelivery.createMany({ data: Array.from({ length: 2 * count }, (_, index) => delivery(index)) });
});
afterAll(() => gateway.close());

interface List {
  /** The field with its own arguments, and those of pages in place of `$`. */
  readonly field: string;
  /** What leads to the connection in the response; the field by default. */
  readonly within?: string;
  readonly isCounted?: true;
  /** Whether it has `last` and `before`. */
  readonly isOneWay?: true;
}

const byOrder = (order: string) => ({
  field: `userGroups($ orderBy: { field: ${order.replace(' ', ', direction: ')} })`,
  isCounted: true as const,
});
const lists: Readonly<Record<string, () => List>> = {
  'userGroups by NAME ASC': () => byOrder('NAME ASC'),
  'userGroups by CREATED DESC': () => byOrder('CREATED DESC'),
  'userGroups with a filter': () => ({ field: 'userGroups($ filter: { search: "NAME" })', isCounted: true }),
  apiTokens: () => ({ field: 'apiTokens($)', isCounted: true }),
  events: () => ({ field: 'events($)' }),
  'events of a group': () => ({
    field: 'userGroup(by: { providedId: "group 0" }) { events($)',
    within: 'userGroup',
    isOneWay: true,
  }),
  webhooks: () => ({ field: 'webhooks($)', isCounted: true }),
  'webhookDeliveries with a status': () => ({ field: `webhookDeliveries(webhook: "${webhookId}" status: FAILED $)` }),
};
const names = Object.keys(lists);
const of = (name: string): List => (lists[name] as () => List)();

type Arguments = Readonly<Record<string, string | number | null>>;

/** Sends a list; JSON of these arguments is GraphQL, too. */
async function send(name: string, pageArguments: Arguments) {
  const { field, isCounted, within } = of(name);
  const given = Object.entries(pageArguments).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
  const selected = `nodes { id } edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }`;
  const sent = field.replace('$', given.join(' ')).replace('()', '');
  const { json } = await gateway.graphql(
    `{ ${sent} { ${selected} ${isCounted ? 'totalCount' : ''} }${within ? ' }' : ''} }`,
    {},
    { token: admin },
  );
  return json;
}

async function read(name: string, pageArguments: Arguments = {}) {
  const json = await send(name, pageArguments);
  expect(json.errors).toBeUndefined();
  const connection = Object.values(of(name).within ? json.data.userGroup : json.data)[0] as Connection;
  expect(connection.edges.map(({ node }) => node)).toEqual(connection.nodes);
  const { startCursor, endCursor } = connection.pageInfo;
  expect([startCursor, endCursor]).toEqual([connection.edges[0]?.cursor ?? null, connection.edges.at(-1)?.cursor ?? null]);
  return { ...connection, ids: connection.nodes.map(({ id }) => id) };
}

interface Connection {
  readonly nodes: readonly { readonly id: string }[];
  readonly edges: readonly { readonly cursor: string; readonly node: object }[];
  readonly pageInfo: {
    readonly hasNextPage: boolean;
    readonly hasPreviousPage: boolean;
    readonly startCursor: string | null;
    readonly endCursor: string | null;
  };
  readonly totalCount?: number | null;
}

beforeAll(async () => {
  // The events of one group, of one time: only their numbers tell them apart.
  const { teamId } = await gateway.database.prisma.userGroup.findFirstOrThrow({ where: { providedId: 'group 0' } });
  await gateway.database.pool.query(
    `insert into event (type, environment, occurred_at, actor_kind, actor_name, team_id, provided_id)
     select 'user_group.updated', 'Customer', '2026-01-01', 'CLI', 'test', $1, 'group 0' from generate_series(1, $2)`,
    [teamId, count],
  );
});

describe.each(names)('%s', (name) => {
  test('has every item once in pages, in both directions', async () => {
    const size = 4;
    const { ids: all, pageInfo, totalCount } = await read(name, { first: 100 });
    expect([pageInfo.hasNextPage, pageInfo.hasPreviousPage]).toEqual([false, false]);
    expect(all.length).toBeGreaterThan(6);
    expect(new Set(all).size).toBe(all.length);
    expect(totalCount).toBe(of(name).isCounted && all.length);
    const forwards: string[] = [];
    for (let after: string | null = null, more = true; more; ) {
      const page = await read(name, { first: size, after });
      expect([page.pageInfo.hasPreviousPage, page.totalCount]).toEqual([after !== null, totalCount]);
      forwards.push(...page.ids);
      ({ hasNextPage: more, endCursor: after } = page.pageInfo);
    }
    expect(forwards).toEqual(all);
    if (of(name).isOneWay) return;
    const backwards: string[] = [];
    for (let before: string | null = null, more = true; more; ) {
      const page = await read(name, { last: size, before });
      expect([page.pageInfo.hasNextPage, page.totalCount]).toEqual([before !== null, totalCount]);
      backwards.unshift(...page.ids);
      ({ hasPreviousPage: more, startCursor: before } = page.pageInfo);
    }
    expect(backwards).toEqual(all);
  });

  test('has 20 items by default, and null counts as omitted', async () => {
    const { ids } = await read(name, { first: 100 });
    const isOneWay = of(name).isOneWay;
    expect((await read(name)).ids).toEqual(ids.slice(0, 20));
    expect((await read(name, { first: null, after: null, ...(isOneWay ? {} : { last: null, before: null }) })).ids).toEqual(
      ids.slice(0, 20),
    );
  });

  test('is empty for 0 items, and says what is before and after', async () => {
    const { ids, edges, totalCount } = await read(name, { first: 100 });
    const [cursor, end] = [edges[2]?.cursor ?? '', edges.at(-1)?.cursor ?? ''];
    const empty = { nodes: [], edges: [], ids: [], ...(totalCount === undefined ? {} : { totalCount }) };
    const info = (hasPreviousPage: boolean, hasNextPage: boolean) => ({
      ...empty,
      pageInfo: { hasNextPage, hasPreviousPage, startCursor: null, endCursor: null },
    });
    expect(await read(name, { first: 0 })).toEqual(info(false, true));
    expect(await read(name, { first: 0, after: cursor })).toEqual(info(true, true));
    expect(await read(name, { first: 0, after: end })).toEqual(info(true, false));
    if (of(name).isOneWay) return;
    expect(await read(name, { last: 0 })).toEqual(info(true, false));
    expect(await read(name, { last: 0, before: cursor })).toEqual(info(true, true));
    expect(await read(name, { last: 0, before: edges[0]?.cursor ?? '' })).toEqual(info(false, true));
    expect(ids.length).toBeGreaterThan(3);
  });

  test('is between two cursors', async () => {
    if (of(name).isOneWay) return;
    const { ids, edges } = await read(name, { first: 100 });
    const [after, before] = [edges[1]?.cursor ?? '', edges[6]?.cursor ?? ''];
    expect((await read(name, { after, before })).ids).toEqual(ids.slice(2, 6));
    const head = await read(name, { first: 2, after, before });
    expect([head.ids, head.pageInfo.hasNextPage]).toEqual([ids.slice(2, 4), true]);
    const tail = await read(name, { last: 2, after, before });
    expect([tail.ids, tail.pageInfo.hasPreviousPage]).toEqual([ids.slice(4, 6), true]);
    expect((await read(name, { after: before, before: after })).ids).toEqual([]);
  });

  test('refuses other numbers of items, and other texts as a cursor', async () => {
    const cursors = ['', 'nonsense', '😀', 'A'.repeat(10_000), ...forged()];
    const refused: readonly (readonly [string, Arguments])[] = [
      ['first', { first: 101 }],
      ['first', { first: -1 }],
      ['last', { last: 101 }],
      ['last', { last: -1 }],
      ['last', { first: 1, last: 1 }],
      ['last', { first: 0, last: 0 }],
      ...cursors.map((cursor): [string, Arguments] => ['after', { after: cursor }]),
      ['before', { last: 0, before: 'nonsense' }],
    ];
    for (const [path, pageArguments] of refused) {
      if (of(name).isOneWay && ('last' in pageArguments || 'before' in pageArguments)) continue;
      const { errors } = await send(name, pageArguments);
      const issues = [{ path: [path], message: expect.any(String) }];
      expect([pageArguments, errors?.map(({ extensions }: { extensions: object }) => extensions)]).toMatchObject([
        pageArguments,
        [{ code: 'INVALID_INPUT', issues }],
      ]);
    }
  });

  test('refuses the cursors of every other list and order', async () => {
    const own = kindOf(name);
    for (const other of names) {
      const after = await cursorOf(other);
      const { errors } = await send(name, { after });
      if (kindOf(other) === own) expect(errors).toBeUndefined();
      else expect(errors).toMatchObject([{ extensions: { code: 'INVALID_INPUT', issues: [{ path: ['after'] }] } }]);
    }
  });
});

const cursors = new Map<string, string | null>();

/** A cursor of a list, read once. */
async function cursorOf(name: string): Promise<string | null> {
  const cursor = cursors.get(name) ?? (await read(name, { first: 1 })).pageInfo.endCursor;
  cursors.set(name, cursor);
  return cursor;
}

/** Lists of one kind have cursors in common: a filter and a direction change nothing in them. */
function kindOf(name: string): string {
  const [list = '', order = 'CREATED'] = name.replace(/ (ASC|DESC)$/, '').split(/ by /);
  return list.startsWith('userGroups') ? `userGroups ${order}` : (list.split(' ')[0] ?? '');
}

/** Cursors with a right name and wrong values. */
function forged(): string[] {
  const time = '2026-01-01T00:00:00.000Z';
  const values: [string, ...unknown[]][] = [
    ['UserGroup.createdAt'],
    ['UserGroup.createdAt', 'text', 1],
    ['UserGroup.createdAt', time, 2 ** 31],
    ['UserGroup.createdAt', time, 1, 1],
    ['UserGroup.name', '\0', 1],
    ['UserGroup.name', '\ud800', 1],
    ['ApiToken', 1.5],
    ['Event', time, '9'.repeat(19)],
    ['WebhookDelivery', '-1'],
  ];
  return values.map(([list, ...rest]) => writeCursor(list, rest));
}

test('every connection of the schema is in this table', async () => {
  const { json } = await gateway.graphql(
    '{ __schema { types { name fields { name type { name ofType { name } } } } } }',
    {},
    { token: admin },
  );
  const types = json.data.__schema.types as { name: string; fields: Field[] | null }[];
  interface Field {
    readonly name: string;
    readonly type: { readonly name: string | null };
  }
  const connections = types.flatMap(({ name, fields }) =>
    (fields ?? []).filter(({ type }) => type.name?.endsWith('Connection')).map((field) => `${name}.${field.name}`),
  );
  expect(connections.sort()).toEqual([
    'Query.apiTokens',
    'Query.events',
    'Query.userGroups',
    'Query.webhookDeliveries',
    'Query.webhooks',
    'UserGroup.events',
  ]);
});
