import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type App, contextOf } from '../../src/app.ts';
import type { Caller } from '../../src/caller.ts';
import type { EnvironmentTag, Prisma } from '../../src/generated/prisma/client.ts';
import type { Json } from '../../src/input.ts';
import {
  listUserGroups,
  type PropertyFilter,
  type UserGroupFilter,
  type UserGroupListInput,
  type UserGroupOrder,
} from '../../src/user-groups/list.ts';
import { callerWith } from '../support/caller.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { storedToken } from '../support/keys.ts';
import { appOn } from '../support/queries.ts';

/** A group as the model has it. */
interface Group {
  readonly teamId: number;
  readonly providedId: string;
  readonly environmentTag: EnvironmentTag | null;
  readonly name: string;
  readonly properties: Json;
  readonly suspended: boolean;
  readonly lastResolvedAt?: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

type Draft = Omit<Group, 'teamId' | 'suspended'> & Partial<Pick<Group, 'suspended'>>;

let database: TestDatabase;
let app: App;
let tokens = 0;
beforeAll(async () => {
  database = await createTestDatabase();
  app = appOn(database);
});
beforeEach(() => database.pool.query('truncate user_group cascade'));
afterAll(() => database.close());

const callerOf = (environmentTag: EnvironmentTag | null, scope: string): Caller =>
  callerWith({
    id: 1,
    name: 'test',
    environmentTag,
    scopes: [scope],
  });
const tags = ['Customer', 'Testing', null] as const;
const callers = [...tags.map((tag) => callerOf(tag, 'groups:read')), callerOf(null, 'admin')];
const anyCaller = fc.constantFrom(...callers);

/** Creates groups; those that share an id with another are left out. */
async function create(drafts: readonly Draft[]): Promise<Group[]> {
  const data = drafts.map((draft) => {
    tokens += 1;
    return { ...draft, properties: draft.properties as Prisma.InputJsonValue, ...storedToken(`an imported token ${tokens}`) };
  });
  const rows = await database.prisma.userGroup.createManyAndReturn({ data, skipDuplicates: true });
  return rows.map((row) => ({ ...row, properties: row.properties as Json }));
}

const anyOrder: fc.Arbitrary<UserGroupOrder> = fc.record({
  field: fc.constantFrom('CREATED', 'UPDATED', 'NAME', 'PROVIDED_ID'),
  direction: fc.constantFrom('ASC', 'DESC'),
});

const bytes = (text: string) => Buffer.from(text);
const comparisons: Readonly<Record<UserGroupOrder['field'], (a: Group, b: Group) => number>> = {
  CREATED: (a, b) => a.createdAt.getTime() - b.createdAt.getTime(),
  UPDATED: (a, b) => a.updatedAt.getTime() - b.updatedAt.getTime(),
  NAME: (a, b) => Buffer.compare(bytes(a.name), bytes(b.name)),
  PROVIDED_ID: (a, b) => Buffer.compare(bytes(a.providedId), bytes(b.providedId)),
};
const sorted = (groups: readonly Group[], { field, direction }: UserGroupOrder): Group[] =>
  [...groups].sort((a, b) => (direction === 'ASC' ? 1 : -1) * (comparisons[field](a, b) || a.teamId - b.teamId));

const idsOf = (groups: readonly { teamId: number }[]): number[] => groups.map(({ teamId }) => teamId);

/** Few times and names, so that many are equal; characters whose order differs between UTF-8 and UTF-16. */
const time = fc.integer({ min: 0, max: 4 }).map((hour) => new Date(Date.UTC(2026, 0, 1, hour)));
const character = fc.constantFrom('a', 'A', 'b', 'é', 'É', '\uffee', '😀', '_', '%', '\\', "'", ' ');
const text = fc.string({ unit: character, minLength: 1, maxLength: 3 });
const draftWith = (properties: fc.Arbitrary<Json>) =>
  fc.record({
    providedId: text,
    name: text,
    environmentTag: fc.constantFrom(...tags),
    properties,
    suspended: fc.boolean(),
    lastResolvedAt: fc.option(time),
    createdAt: time,
    updatedAt: time,
  });

/** Walks a list from one end to the other; `onPage` is called between pages. */
async function walk(
  caller: Caller,
  input: UserGroupListInput,
  isBackward: boolean,
  onPage: () => Promise<void>,
): Promise<number[]> {
  const seen: number[] = [];
  let page = await listUserGroups(contextOf(app, caller), input);
  for (let pages = 0; pages < 200; pages += 1) {
    const ids = idsOf(page.edges.map(({ node }) => node));
    if (isBackward) seen.unshift(...ids);
    else seen.push(...ids);
    if (isBackward ? !page.pageInfo.hasPreviousPage : !page.pageInfo.hasNextPage) return seen;
    await onPage();
    page = await listUserGroups(contextOf(app, caller), {
      ...input,
      ...(isBackward ? { before: page.pageInfo.startCursor } : { after: page.pageInfo.endCursor }),
    });
  }
  throw new Error('The walk does not end.');
}

describe('pages', () => {
  test('of every size, in both directions, have every group once and in order, while others are created and deleted', async () => {
    const drafts = fc.array(draftWith(fc.constant({})), { minLength: 1, maxLength: 40 });
    const size = fc.integer({ min: 1, max: 12 });
    const cases = fc.record({ drafts, caller: anyCaller, order: anyOrder, size, isBackward: fc.boolean(), seed: fc.nat() });
    const same = {
      name: 'a',
      environmentTag: null,
      properties: {},
      suspended: false,
      lastResolvedAt: null,
      createdAt: new Date(0),
      updatedAt: new Date(0),
    };
    /** What is created comes last here, behind every page. */
    const createdLast = {
      drafts: ['a', 'b', 'c'].map((providedId) => ({ ...same, providedId })),
      caller: callerOf(null, 'admin'),
      order: { field: 'NAME', direction: 'ASC' } as const,
      size: 1,
      isBackward: false,
      seed: 0,
    };
    await fc.assert(
      fc.asyncProperty(cases, async ({ drafts: given, caller, order, size: pageSize, isBackward, seed }) => {
        await database.pool.query('delete from user_group');
        const groups = await create(given);
        const visible = groups.filter((group) => caller.canAccess(group));
        const deleted = new Set<number>();
        let page = 0;
        const disturb = async () => {
          page += 1;
          const [victim] = groups.splice((seed + page) % groups.length, 1);
          if (victim) {
            deleted.add(victim.teamId);
            await database.prisma.userGroup.deleteMany({ where: { teamId: victim.teamId } });
          }
          const source = given[(seed + page) % given.length];
          // Fewer than pages of one group, each of which could have one more behind it: then the walk would not end.
          if (source && page <= given.length) await create([{ ...source, providedId: `new ${page}` }]);
        };
        const input = { [isBackward ? 'last' : 'first']: pageSize, orderBy: order };
        const seen = await walk(caller, input, isBackward, disturb);
        expect(new Set(seen).size).toBe(seen.length);
        // Those that were there all the time are all seen, in order; one that was deleted may be seen or not.
        const stayed = new Set(idsOf(visible.filter(({ teamId }) => !deleted.has(teamId))));
        expect(seen.filter((id) => stayed.has(id))).toEqual(idsOf(sorted(visible, order)).filter((id) => stayed.has(id)));
      }),
      { numRuns: 20, endOnFailure: true, examples: [[createdLast]] },
    );
  });
});

describe('filters', () => {
  const scalar: fc.Arbitrary<Json> = fc.constantFrom(null, true, 0, 1, 1.5, '', 'a', '1', "it's", '%', '\\', 'ä', '__');
  /** Without null prototypes: a deep comparison takes two objects for different if their prototypes differ. */
  const objectWith = (names: readonly string[], member: fc.Arbitrary<Json>): fc.Arbitrary<Json> =>
    fc.dictionary(fc.constantFrom(...names), member, { maxKeys: 2, noNullPrototype: true });
  const value: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 2 },
      scalar,
      fc.array(tie('value'), { maxLength: 2 }) as fc.Arbitrary<Json>,
      objectWith(['a', 'b', '', '0', "'"], tie('value') as fc.Arbitrary<Json>),
    ),
  })).value;
  const properties = objectWith(['a', 'b', ''], value);
  const property: fc.Arbitrary<PropertyFilter> = fc.record({
    path: fc.array(fc.constantFrom('a', 'a', 'b', '', '0', '1', '-1', "'"), { minLength: 1, maxLength: 2 }),
    equals: value,
  });
  const range = fc.record({ from: fc.option(time), to: fc.option(time) }).filter(({ from, to }) => !from || !to || from <= to);
  const conditions = {
    search: fc.string({ unit: character, minLength: 1, maxLength: 2 }),
    providedIds: fc.array(text, { maxLength: 30 }),
    properties: fc.array(property, { maxLength: 2 }),
    status: fc.constantFrom('ACTIVE' as const, 'SUSPENDED' as const),
    notResolvedSince: time,
    createdAt: range,
    updatedAt: range,
  };
  /** Mostly one condition or two: more leave nothing. */
  const filter: fc.Arbitrary<UserGroupFilter> = fc.oneof(
    ...(['search', 'properties', 'createdAt'] as const).map((name) => fc.record({ [name]: conditions[name] })),
    fc.record({ providedIds: conditions.providedIds, updatedAt: conditions.updatedAt }),
    fc.record({ search: conditions.search, createdAt: conditions.createdAt }),
    fc.record({ status: conditions.status, createdAt: conditions.createdAt }),
    fc.record({ notResolvedSince: conditions.notResolvedSince }),
    fc.record(conditions, { requiredKeys: [] }),
  );

  /** What is at a path, as PostgreSQL finds it: by names in objects, by indexes in lists. */
  function at(json: Json | undefined, [step, ...rest]: readonly string[]): Json | undefined {
    if (step === undefined || json === undefined || json === null || typeof json !== 'object')
      return step === undefined ? json : undefined;
    if (Array.isArray(json)) return /^-?\d+$/.test(step) ? at(json.at(Number(step)), rest) : undefined;
    return Object.hasOwn(json, step) ? at(json[step], rest) : undefined;
  }

  const isIn = ({ from, to }: NonNullable<UserGroupFilter['createdAt']>, moment: Date) =>
    (!from || moment >= from) && (!to || moment < to);

  /** Case folding is PostgreSQL's, so it is asked what the texts are in lower case. */
  async function lowerCased(texts: readonly string[]): Promise<Map<string, string>> {
    const { rows } = await database.pool.query<{ given: string; lower: string }>(
      'select given, lower(given) as lower from unnest($1::text[]) as given',
      [texts],
    );
    return new Map(rows.map(({ given, lower }) => [given, lower]));
  }

  const matches = (group: Group, given: UserGroupFilter, lower: ReadonlyMap<string, string>): boolean => {
    const { search, providedIds, properties: wanted, status, notResolvedSince, createdAt, updatedAt } = given;
    const has = (own: string) => search == null || lower.get(own)?.includes(lower.get(search) ?? '');
    return (
      Boolean(has(group.name) || has(group.providedId)) &&
      (!providedIds || providedIds.includes(group.providedId)) &&
      (wanted ?? []).every(({ path, equals }) => isDeepStrictEqual(at(group.properties, path), equals)) &&
      (!notResolvedSince || group.lastResolvedAt == null || group.lastResolvedAt < notResolvedSince) &&
      (!status || group.suspended === (status === 'SUSPENDED')) &&
      (!createdAt || isIn(createdAt, group.createdAt)) &&
      (!updatedAt || isIn(updatedAt, group.updatedAt))
    );
  };

  test('agree with a list in memory', async () => {
    const drafts = fc.array(draftWith(properties), { minLength: 20, maxLength: 60 });
    const filters = fc.array(fc.record({ filter, caller: anyCaller, order: anyOrder }), { minLength: 10, maxLength: 10 });
    let found = 0;
    await fc.assert(
      fc.asyncProperty(drafts, filters, async (given, queries) => {
        await database.pool.query('delete from user_group');
        const groups = await create(given);
        const lower = await lowerCased([
          ...groups.flatMap(({ name, providedId }) => [name, providedId]),
          ...queries.flatMap((query) => query.filter.search ?? []),
        ]);
        for (const { filter: wanted, caller, order } of queries) {
          const expected = groups.filter((group) => caller.canAccess(group) && matches(group, wanted, lower));
          const page = await listUserGroups(contextOf(app, caller), { first: 100, filter: wanted, orderBy: order });
          expect(idsOf(page.edges.map(({ node }) => node))).toEqual(idsOf(sorted(expected, order)));
          expect(await page.totalCount()).toBe(expected.length);
          found += expected.length;
        }
      }),
      // Without shrinking, which queries for longer than a test may take.
      { numRuns: 12, endOnFailure: true },
    );
    // Usually 170 to 370. With hardly any, hardly anything was compared.
    expect(found).toBeGreaterThan(30);
  }, 120_000);

  const named = (name: string, rest: Partial<Group> = {}) => ({
    providedId: name,
    name,
    environmentTag: 'Testing' as const,
    properties: {},
    createdAt: new Date(),
    updatedAt: new Date(),
    ...rest,
  });
  const search = async (given: UserGroupFilter) => {
    const { edges } = await listUserGroups(contextOf(app, callerOf('Testing', 'groups:read')), {
      first: 100,
      filter: given,
      orderBy: { field: 'NAME', direction: 'ASC' },
    });
    return edges.map(({ node }) => node.name);
  };

  test.each([
    ['100%', ['100% sure']],
    ['a_b', ['a_b']],
    ['c\\d', ['c\\d']],
    ['\\', ['c\\d']],
    ["O'N", ["O'Neil"]],
    ['"', ['"quoted"']],
    ['müller', ['Müller', 'MÜLLER']],
    ['ΩMEGA', ['Ωmega']],
    ['ЖУК', ['жук']],
    ['東京', ['東京タワー']],
    ['京', ['東京タワー']],
    ['😀', ['smile 😀']],
    ['e\u0301', ['cafe\u0301']],
    ['é', []],
    ['two\nlines', ['two\nlines']],
  ])('find %j', async (wanted, expected) => {
    const names = [
      '100% sure',
      '100 sure',
      'a_b',
      'axb',
      'c\\d',
      "O'Neil",
      '"quoted"',
      'Müller',
      'MÜLLER',
      'Muller',
      'Ωmega',
      'жук',
    ];
    await create([...names, '東京タワー', 'smile 😀', 'cafe\u0301', 'two\nlines'].map((name) => named(name)));
    expect(new Set(await search({ search: wanted }))).toEqual(new Set(expected));
  });

  test.each<[Json, string[]]>([
    [{}, ['empty']],
    [{ a: 1 }, ['one', 'one in other notation']],
    [{ b: 2, a: 1 }, ['two']],
    [[], ['list']],
    [[1], []],
    [[1, 2], ['numbers']],
    [[2, 1], []],
    ['1', ['text']],
  ])('compare properties as a whole: %j', async (equals, expected) => {
    const values: Record<string, Json> = {
      empty: {},
      one: { a: 1 },
      'one in other notation': { a: 1.0 },
      two: { a: 1, b: 2 },
      list: [],
      numbers: [1, 2],
      text: '1',
      none: null,
    };
    await create(Object.entries(values).map(([name, at]) => named(name, { properties: { at } })));
    await create([named('absent'), named('deeper', { properties: { at: { at: {} } } })]);
    expect(await search({ properties: [{ path: ['at'], equals }] })).toEqual(expected);
  });

  test.each([
    ['0', 'basic', ['both']],
    ['-1', 'gold', ['both']],
    ['-1', 'basic', []],
    ['-2', 'basic', ['both']],
    ['-3', 'basic', []],
  ])('find the element %s of a list behind a shorter one: %s', async (index, equals, expected) => {
    await create([named('both', { properties: { regions: ['eu'], plans: ['basic', 'gold'] } })]);
    expect(await search({ properties: [{ path: ['plans', index], equals }] })).toEqual(expected);
  });
});
