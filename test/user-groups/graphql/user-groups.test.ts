import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EnvironmentTag } from '../../../src/generated/prisma/client.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { storedToken } from '../../support/keys.ts';

let gateway: TestGateway;
let admin: string;
let customer: string;
let untagged: string;

const count = 25;
/** Created one second after the other; the names are in the opposite order. */
const rowsOf = (environmentTag: EnvironmentTag | null) =>
  Array.from({ length: count }, (_, index) => ({
    providedId: `${environmentTag ?? 'none'}-${index}`,
    environmentTag,
    name: `Name ${String(99 - index)}`,
    ...storedToken(`an imported token ${environmentTag} ${index}`),
    createdAt: new Date(Date.UTC(2026, 0, 1, 0, 0, index)),
    updatedAt: new Date(Date.UTC(2026, 1, 1, 0, 0, index)),
    properties: { index, plan: index % 2 === 0 ? 'gold' : 'free' },
  }));

beforeAll(async () => {
  gateway = await startGateway();
  const data = [...rowsOf('Testing'), ...rowsOf('Customer'), ...rowsOf(null)];
  await gateway.database.prisma.userGroup.createMany({ data });
  const secretOf = async (options: Parameters<TestGateway['issue']>[0]) => (await gateway.issue(options)).secret;
  admin = await secretOf({ environment: null, scopes: ['admin'] });
  customer = await secretOf({ environment: 'Customer', scopes: ['groups:read'] });
  untagged = await secretOf({ environment: null, scopes: ['groups:read'] });
});
afterAll(() => gateway.close());

const document = `query ($first: Int, $after: String, $last: Int, $before: String, $filter: UserGroupFilter, $orderBy: UserGroupOrder) {
  userGroups(first: $first, after: $after, last: $last, before: $before, filter: $filter, orderBy: $orderBy) {
    totalCount nodes { providedId } edges { cursor node { providedId environmentTag } }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
  }
}`;

/** The result of the field, or the extensions of its error. */
async function list(variables: object = {}, token?: string) {
  const { json } = await gateway.graphql(document, variables as Record<string, unknown>, token === undefined ? {} : { token });
  return json.errors ? json.errors[0].extensions : json.data.userGroups;
}

const idsOf = (page: { nodes: { providedId: string }[] }): string[] => page.nodes.map(({ providedId }) => providedId);
const testing = (from: number, to: number): string[] => {
  const step = from <= to ? 1 : -1;
  return Array.from({ length: Math.abs(to - from) + 1 }, (_, index) => `Testing-${from + step * index}`);
};

describe('a page of user groups', () => {
  test('has the newest 20 of the environment by default', async () => {
    const page = await list();
    expect(idsOf(page)).toEqual(testing(24, 5));
    expect(page.edges.map((edge: { node: object }) => edge.node)).toEqual(
      testing(24, 5).map((providedId) => ({ providedId, environmentTag: 'TESTING' })),
    );
    expect(page.pageInfo).toEqual({
      hasNextPage: true,
      hasPreviousPage: false,
      startCursor: page.edges[0].cursor,
      endCursor: page.edges[19].cursor,
    });
    expect(page.totalCount).toBe(count);
  });

  test.each([
    ['CREATED', 'ASC', testing(0, 2)],
    ['CREATED', 'DESC', testing(24, 22)],
    ['UPDATED', 'ASC', testing(0, 2)],
    ['NAME', 'ASC', testing(24, 22)],
    ['NAME', 'DESC', testing(0, 2)],
    ['PROVIDED_ID', 'ASC', ['Testing-0', 'Testing-1', 'Testing-10']],
    ['PROVIDED_ID', 'DESC', ['Testing-9', 'Testing-8', 'Testing-7']],
  ])('is ordered by %s %s', async (field, direction, expected) => {
    expect(idsOf(await list({ first: 3, orderBy: { field, direction } }))).toEqual(expected);
  });

  test('null counts as an omitted argument', async () => {
    const given = { first: null, after: null, last: 2, before: null, orderBy: null };
    const none = {
      search: null,
      providedIds: null,
      environmentTag: null,
      properties: null,
      createdAt: null,
      updatedAt: { to: null },
    };
    expect(idsOf(await list({ ...given, filter: none }))).toEqual(testing(1, 0));
    expect(idsOf(await list({ ...given, filter: null }))).toEqual(testing(1, 0));
  });
});

describe('the filter of user groups', () => {
  test.each<[string, object, string[]]>([
    ['a part of the name in other case', { search: 'nAME 9' }, testing(9, 0)],
    ['a part of the id', { search: 'ting-1' }, [...testing(19, 10), 'Testing-1']],
    ['provided ids', { providedIds: ['Testing-3', 'Customer-3', 'Testing-1'] }, ['Testing-3', 'Testing-1']],
    ['no provided ids', { providedIds: [] }, []],
    ['a property', { properties: [{ path: ['index'], equals: 4 }] }, ['Testing-4']],
    [
      'two properties',
      { properties: ['free', 3].map((equals, at) => ({ path: [['plan'], ['index']][at], equals })) },
      ['Testing-3'],
    ],
    ['the time of creation', { createdAt: { from: '2026-01-01T00:00:03Z', to: '2026-01-01T00:00:05Z' } }, testing(4, 3)],
    ['an open range', { updatedAt: { from: '2026-02-01T00:00:23Z' } }, testing(24, 23)],
    [
      'several conditions',
      { search: 'name', providedIds: testing(0, 9), createdAt: { to: '2026-01-01T00:00:02Z' } },
      testing(1, 0),
    ],
    ['the own environment', { environmentTag: { tag: 'TESTING' }, providedIds: testing(0, 1) }, testing(1, 0)],
  ])('selects by %s', async (_, filter, expected) => {
    const page = await list({ filter });
    expect([idsOf(page), page.totalCount]).toEqual([expected, expected.length]);
  });
});

describe('environments', () => {
  test('are the caller’s own, or with admin all of them in one order', async () => {
    const tagsOf = async (token: string) => {
      const page = await list({ first: 100 }, token);
      return new Set(page.edges.map(({ node }: { node: { environmentTag: string } }) => node.environmentTag));
    };
    expect([await tagsOf(customer), await tagsOf(untagged)]).toEqual([new Set(['CUSTOMER']), new Set([null])]);
    const byName = { filter: { search: 'Name ' }, orderBy: { field: 'NAME', direction: 'ASC' } };
    const all = await list({ first: 6, ...byName }, admin);
    expect(all.totalCount).toBe(3 * count);
    const tags = ['Testing', 'Customer', 'none']; // in the order of their numbers
    expect(idsOf(all)).toEqual([...tags.map((tag) => `${tag}-24`), ...tags.map((tag) => `${tag}-23`)]);
    const next = await list({ first: 2, after: all.edges[1].cursor, ...byName }, admin);
    expect(idsOf(next)).toEqual(['none-24', 'Testing-23']);
  });

  test.each([
    ['CUSTOMER', 'Customer-24'],
    ['TESTING', 'Testing-24'],
    [null, 'none-24'],
  ])('can be chosen by admin: %s', async (tag, newest) => {
    const page = await list({ first: 1, filter: { environmentTag: { tag }, search: 'Name ' } }, admin);
    expect([idsOf(page), page.totalCount]).toEqual([[newest], count]);
  });

  test('other than the own are refused without admin', async () => {
    for (const tag of ['CUSTOMER', null])
      expect(await list({ filter: { environmentTag: { tag } } })).toMatchObject({ code: 'FORBIDDEN' });
  });
});

describe('a list is refused', () => {
  const property = { path: ['plan'], equals: 'gold' };
  test.each<[string, object, (string | number)[]]>([
    ['a long search', { filter: { search: 'x'.repeat(256) } }, ['filter', 'search']],
    ['NUL in a search', { filter: { search: 'a\0' } }, ['filter', 'search']],
    ['a lone surrogate in an id', { filter: { providedIds: ['a', '\ud800'] } }, ['filter', 'providedIds', 1]],
    ['101 ids', { filter: { providedIds: Array(101).fill('x') } }, ['filter', 'providedIds']],
    ['six properties', { filter: { properties: Array(6).fill(property) } }, ['filter', 'properties']],
    ['an empty path', { filter: { properties: [{ ...property, path: [] }] } }, ['filter', 'properties', 0, 'path']],
    ['NUL in a value', { filter: { properties: [{ ...property, equals: ['\0'] }] } }, ['filter', 'properties', 0, 'equals', 0]],
    [
      'an end before the beginning',
      { filter: { updatedAt: { from: '2026-01-02T00:00:00Z', to: '2026-01-01T00:00:00Z' } } },
      ['filter', 'updatedAt', 'to'],
    ],
    ['the year 0', { filter: { createdAt: { from: '0000-01-01T00:00:00Z' } } }, ['filter', 'createdAt', 'from']],
    ['a time before it', { filter: { updatedAt: { to: '0001-01-01T00:00:00+02:00' } } }, ['filter', 'updatedAt', 'to']],
    ['no tag', { filter: { environmentTag: {} } }, ['filter', 'environmentTag', 'tag']],
  ])('with %s', async (_, variables, path) => {
    expect(await list(variables)).toMatchObject({ code: 'INVALID_INPUT', issues: [{ path }] });
  });
});

describe('a cursor', () => {
  const order = { field: 'NAME', direction: 'ASC' };
  const cursorOf = async (variables: object, token?: string): Promise<string> =>
    (await list(variables, token)).pageInfo.endCursor;

  test('stays valid when its group is gone, and in the other direction', async () => {
    const gone = {
      providedId: 'gone',
      name: 'Name 90 and a half',
      ...storedToken('an imported token: gone'),
      environmentTag: 'Testing' as const,
    };
    const { teamId } = await gateway.database.prisma.userGroup.create({ data: gone });
    const after = await cursorOf({ filter: { providedIds: ['gone'] }, orderBy: order });
    await gateway.database.prisma.userGroup.delete({ where: { teamId } });
    expect(idsOf(await list({ first: 1, after, orderBy: order }))).toEqual(['Testing-8']);
    expect(idsOf(await list({ first: 1, after, orderBy: { ...order, direction: 'DESC' } }))).toEqual(['Testing-9']);
  });

  test('of another environment leads to nothing there', async () => {
    const after = await cursorOf({ first: 1, orderBy: order }, customer);
    expect(new Set(idsOf(await list({ first: 100, after, orderBy: order })).map((id) => id.split('-')[0]))).toEqual(
      new Set(['Testing']),
    );
  });
});

describe('what is stored', () => {
  const search = async (filter: object) => {
    const page = await list({ first: 100, filter, orderBy: { field: 'NAME', direction: 'ASC' } }, customer);
    return page.edges.map(({ node }: { node: { providedId: string } }) => node.providedId);
  };
  let stored = 0;
  const store = (data: { readonly providedId: string; readonly properties?: object }) => {
    stored += 1;
    const group = {
      ...data,
      name: data.providedId,
      environmentTag: 'Customer',
      ...storedToken(`imported here ${stored}`),
    } as const;
    return gateway.database.prisma.userGroup.create({ data: group });
  };
  beforeAll(async () => {
    const names = ['100% sure', '100 sure', 'a_b', 'axb', 'c\\d', "O'Neil", 'Müller', 'MÜLLER', 'Muller', 'Ωmega', 'жук'];
    for (const providedId of [...names, '東京タワー', 'smile 😀', 'cafe\u0301', 'two\nlines']) await store({ providedId });
    const values = { empty: {}, one: { a: 1 }, two: { a: 1, b: 2 }, 'no items': [], numbers: [1, 2], text: '1' };
    for (const [providedId, at] of Object.entries(values)) await store({ providedId, properties: { at } });
    await store({ providedId: 'deeper', properties: { at: { at: {} }, plans: ['basic', 'gold'] } });
  });

  test.each([
    ['100%', ['100% sure']],
    ['a_b', ['a_b']],
    ['\\', ['c\\d']],
    ["O'N", ["O'Neil"]],
    ['müller', ['MÜLLER', 'Müller']],
    ['ΩMEGA', ['Ωmega']],
    ['ЖУК', ['жук']],
    ['京', ['東京タワー']],
    ['😀', ['smile 😀']],
    ['e\u0301', ['cafe\u0301']],
    ['é', []],
    ['two\nlines', ['two\nlines']],
  ])('is found by %j', async (wanted, expected) => {
    expect((await search({ search: wanted })).toSorted()).toEqual(expected.toSorted());
  });

  test.each<[string[], unknown, string[]]>([
    [['at'], {}, ['empty']],
    [['at'], { a: 1 }, ['one']],
    [['at'], { b: 2, a: 1 }, ['two']],
    [['at'], [], ['no items']],
    [['at'], [1], []],
    [['at'], [1, 2], ['numbers']],
    [['at'], [2, 1], []],
    [['at'], '1', ['text']],
    [['at', 'at'], {}, ['deeper']],
    [['plans', '0'], 'basic', ['deeper']],
    [['plans', '-1'], 'gold', ['deeper']],
    [['plans', '-3'], 'basic', []],
    [["'"], 1, []],
  ])('is found by what is at %j: %j', async (path, equals, expected) => {
    expect(await search({ properties: [{ path, equals }] })).toEqual(expected);
  });

  test('is found by its status, and by when its token was last used', async () => {
    const only = { providedIds: ['one', 'two'] };
    const data = { suspended: true, lastResolvedAt: new Date('2026-01-01') };
    await gateway.database.prisma.userGroup.updateMany({ where: { providedId: 'one' }, data });
    const found = [{ status: 'SUSPENDED' }, { status: 'ACTIVE' }].map((filter) => search({ ...only, ...filter }));
    expect(await Promise.all(found)).toEqual([['one'], ['two']]);
    for (const [notResolvedSince, expected] of [
      ['2026-01-01T00:00:00Z', ['two']],
      ['2026-01-01T00:00:01Z', ['one', 'two']],
    ] as const)
      expect(await search({ ...only, notResolvedSince })).toEqual(expected);
  });
});

describe('dataSource', () => {
  test('is the entry of the mapping, and null where there is none', async () => {
    const mapping = Object.fromEntries([
      ['a', '1'],
      ['', '2'],
      ['constructor', '3'],
    ]);
    const data = {
      providedId: 'mapped',
      name: 'n',
      ...storedToken('an imported token: mapped'),
      environmentTag: 'Testing' as const,
      mapping,
    };
    const { teamId } = await gateway.database.prisma.userGroup.create({ data });
    const names = ['a', '', 'constructor', 'A', 'toString', '__proto__'];
    const fields = names.map((name, index) => `f${index}: dataSource(schemaId: ${JSON.stringify(name)})`).join(' ');
    const { json } = await gateway.graphql(`{ userGroup(by: { providedId: "mapped" }) { ${fields} } }`);
    expect(Object.values(json.data.userGroup)).toEqual(['1', '2', '3', null, null, null]);
    await gateway.database.prisma.userGroup.delete({ where: { teamId } });
  });
});
