import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Caller } from '../../src/caller.ts';
import type { EnvironmentTag } from '../../src/generated/prisma/client.ts';
import { listUserGroups, type UserGroupListInput } from '../../src/user-groups/list.ts';
import { unfilteredReads } from '../../src/user-groups/reads.ts';
import type { Services } from '../../src/user-groups/user-groups.ts';
import { callerWith } from '../support/caller.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { storedToken } from '../support/keys.ts';
import { bindQueries } from '../support/queries.ts';

/** How many pages are read at once, and how many of one caller may wait while no other caller's do. */
const placeCount = 64;
const maxWaitingOfOne = 1_500;

let database: TestDatabase;
let services: Services;

/** The parameters of each statement that was sent for pages. */
let sent: (readonly unknown[])[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  const data = Array.from({ length: 90 }, (_, index) => {
    const name = `group ${String(index).padStart(2, '0')}`;
    const environmentTag = (['Customer', 'Testing', null] as const)[index % 3] ?? null;
    return { providedId: name, name, environmentTag, properties: { index }, ...storedToken(`an imported token ${name}`) };
  });
  await database.prisma.userGroup.createMany({ data });
  const query: TestDatabase['query'] = (name, text, values) => {
    if (name.includes('group-page-')) sent.push(values);
    return database.query(name, text, values);
  };
  services = bindQueries({ ...database, query });
});
afterAll(() => database.close());

const callerOf = (id: number, environmentTag: EnvironmentTag | null, scope = 'groups:read') =>
  callerWith({ id, environmentTag, scopes: [scope] });

interface Request {
  readonly caller: Caller;
  readonly input?: UserGroupListInput;
  readonly isAbandoned?: () => boolean;
  readonly withJson?: boolean;
}

async function namesOf({ caller, input = {}, isAbandoned, withJson = false }: Request): Promise<string[]> {
  const { edges } = await listUserGroups(services, caller, input, isAbandoned, { withJson });
  return edges.map(({ node }) => node.name);
}

/** Reads pages one after another, then at once. @returns what was read at once, and the parameters of its statements. */
async function readAtOnce(requests: readonly Request[]) {
  const alone: string[][] = [];
  for (const request of requests) alone.push(await namesOf(request));
  sent = [];
  const atOnce = await Promise.all(requests.map(namesOf));
  expect(atOnce).toEqual(alone);
  return { atOnce, statements: sent };
}

/** Takes every place, so that further pages wait. @returns a function that frees them. */
function occupyPlaces(): () => void {
  let free = () => {};
  const freed = new Promise<void>((resolve) => {
    free = resolve;
  });
  for (let place = 0; place < placeCount; place += 1) void unfilteredReads.run(1_000 + place, () => freed);
  onTestFinished(free);
  return free;
}

const byName = { field: 'NAME', direction: 'ASC' } as const;

test('different pages of one order that are requested at once are read in one statement, each as if it were alone', async () => {
  const first = await listUserGroups(services, callerOf(1, 'Customer'), { first: 30, orderBy: byName });
  const requests = first.edges.map(({ cursor: after }, index) => ({
    caller: callerOf(index, 'Customer'),
    input: { first: 1 + (index % 7), after, orderBy: byName },
  }));
  const { atOnce, statements } = await readAtOnce(requests);
  expect(atOnce[0]).toEqual(['group 03']);
  expect(atOnce[27]).toEqual(['group 84', 'group 87']);
  expect(statements.map(([sizes]) => (sizes as unknown[]).length)).toEqual([16, 14]);
});

test('callers of every environment, pages of every order and from the end get what they get alone', async () => {
  const callers = [callerOf(1, 'Customer'), callerOf(2, 'Testing'), callerOf(3, null), callerOf(4, null, 'admin')];
  const inputs = (['CREATED', 'UPDATED', 'NAME', 'PROVIDED_ID'] as const).flatMap((field) =>
    (['ASC', 'DESC'] as const).flatMap((direction) => [
      { first: 5, orderBy: { field, direction } },
      { last: 5, orderBy: { field, direction } },
    ]),
  );
  const { atOnce } = await readAtOnce(callers.flatMap((caller) => inputs.map((input) => ({ caller, input }))));
  expect(new Set(atOnce.map((names) => names.length))).toEqual(new Set([5]));
});

test('the same page is read once for the requests of every caller with access to it', async () => {
  const requests = Array.from({ length: 20 }, (_, id) => ({ caller: callerOf(id, id % 2 === 0 ? 'Customer' : 'Testing') }));
  const { statements } = await readAtOnce(requests);
  expect(statements).toEqual([
    [
      [21, 21],
      ['Customer', 'Testing'],
    ],
  ]);
  await namesOf({ caller: callerOf(1, 'Customer') }); // a page that was read before is read again
  expect(sent).toHaveLength(2);
});

test('pages with properties have a statement each', async () => {
  const requests = [3, 4, 5].map((first) => ({ caller: callerOf(1, 'Customer'), input: { first }, withJson: true }));
  const { statements } = await readAtOnce(requests);
  expect(statements).toEqual([4, 5, 6].map((limit) => [[limit], ['Customer']]));
});

test('a page whose request was abandoned while it waited is not read', async () => {
  const free = occupyPlaces();
  sent = [];
  let isOver = false;
  const abandoned = namesOf({ caller: callerOf(1, 'Customer'), input: { first: 3 }, isAbandoned: () => isOver });
  const other = namesOf({ caller: callerOf(2, 'Customer'), input: { first: 4 } });
  isOver = true; // after it has begun to wait
  free();
  await expect(abandoned).rejects.toMatchObject({ code: 'UNAVAILABLE', message: expect.stringContaining('abandoned') });
  expect(await other).toHaveLength(4);
  expect(sent).toEqual([[[5], ['Customer']]]);
});

test('a caller with too many waiting pages is rejected, and another one is not', async () => {
  const free = occupyPlaces();
  const waiting = Array.from({ length: maxWaitingOfOne }, () => namesOf({ caller: callerOf(1, 'Customer') }));
  await expect(namesOf({ caller: callerOf(1, 'Customer') })).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringContaining('Too many pages of lists'),
  });
  const other = namesOf({ caller: callerOf(2, 'Testing') });
  free();
  expect(await other).toHaveLength(20);
  for (const names of await Promise.all(waiting)) expect(names).toHaveLength(20);
});
