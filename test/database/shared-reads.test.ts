import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createSharedPageReads, pageReads } from '../../src/database/shared-reads.ts';
import type { EnvironmentTag } from '../../src/generated/prisma/client.ts';
import { listUserGroups } from '../../src/user-groups/list.ts';
import { callerWith } from '../support/caller.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { storedToken } from '../support/keys.ts';
import { bindQueries } from '../support/queries.ts';

/** How many pages are read at once, and how many reads of one caller may wait while no other caller's do. */
const placeCount = 4;
const maxWaitingOfOne = 1_500;

/** Takes every place, so that further reads wait. @returns a function that frees them. */
function occupyPlaces(): () => void {
  let free = () => {};
  const freed = new Promise<void>((resolve) => {
    free = resolve;
  });
  for (let place = 0; place < placeCount; place += 1) void pageReads.run(1_000 + place, () => freed);
  onTestFinished(free);
  return free;
}

/** Shared reads that count how often each page is read. A page's text is its key and the number of the read. */
function countedReads() {
  const readPage = createSharedPageReads<string>();
  const reads: string[] = [];
  const request = (
    key: string,
    {
      queueKey = 1,
      isAbandoned = () => false,
      fails = false,
    }: { queueKey?: number; isAbandoned?: () => boolean; fails?: boolean } = {},
  ) =>
    readPage(key, { queueKey, isAbandoned }, async () => {
      reads.push(key);
      if (fails) throw new Error(`read ${reads.length} failed`);
      return `${key} ${reads.length}`;
    });
  return { request, reads };
}

const outcomesOf = async (requests: readonly Promise<string>[]) =>
  (await Promise.allSettled(requests)).map((each) => (each.status === 'fulfilled' ? each.value : each.reason.message));

const abandonedMessage = 'The request was abandoned: it timed out or the client disconnected.';

describe('while every place is taken', () => {
  test('requests for the same page, of any caller, share one read, and those for another page do not', async () => {
    const free = occupyPlaces();
    const { request, reads } = countedReads();
    const requests = [request('a'), request('b'), request('a', { queueKey: 2 }), request('a'), request('b', { queueKey: 3 })];
    expect(reads).toEqual([]);
    free();
    const outcomes = await outcomesOf(requests);
    expect(reads).toEqual(['a', 'b']);
    const [a, b] = outcomes;
    expect(a).not.toBe(b);
    expect(outcomes).toEqual([a, b, a, a, b]);
  });

  test('a caller with many waiting requests gets a shared page in the turn of another caller', async () => {
    const free = occupyPlaces();
    const { request, reads } = countedReads();
    const others = Array.from({ length: 20 }, (_, index) => request(`other ${index}`));
    const shared = [request('shared'), request('shared', { queueKey: 2 })];
    free();
    expect(new Set(await outcomesOf(shared)).size).toBe(1);
    await Promise.all(others);
    expect(reads.indexOf('shared')).toBeLessThan(3);
    expect(reads).toHaveLength(21);
  });

  test('a read that fails rejects every request that shares it, and the next request reads again', async () => {
    const free = occupyPlaces();
    const { request, reads } = countedReads();
    const requests = [request('a', { fails: true }), request('a', { queueKey: 2, fails: true })];
    free();
    expect(await outcomesOf(requests)).toEqual(['read 1 failed', 'read 1 failed']);
    expect(await request('a')).toBe('a 2');
    expect(reads).toHaveLength(2);
  });

  test.each<[string, readonly boolean[], readonly string[]]>([
    ['one of several requests is abandoned: the page is read for the others', [true, false, false], Array(3).fill('a 1')],
    ['the last of several is abandoned: the page is read for the others', [false, false, true], Array(3).fill('a 1')],
    ['every request is abandoned: the page is not read', [true, true], Array(2).fill(abandonedMessage)],
  ])('%s', async (_, areAbandoned, expected) => {
    const free = occupyPlaces();
    const { request, reads } = countedReads();
    let isOver = false;
    const requests = areAbandoned.map((isAbandoned, queueKey) =>
      request('a', { queueKey, isAbandoned: () => isOver && isAbandoned }),
    );
    isOver = true; // after they have begun to wait
    free();
    expect(await outcomesOf(requests)).toEqual(expected);
    expect(reads).toHaveLength(expected[0] === abandonedMessage ? 0 : 1);
  });

  test('a request beyond the places of its caller is rejected, even for a page that another one waits for', async () => {
    const free = occupyPlaces();
    const { request, reads } = countedReads();
    const waiting = Array.from({ length: maxWaitingOfOne }, (_, index) => request(`page ${index % 10}`));
    const overloaded = { code: 'UNAVAILABLE', message: expect.stringContaining('Too many') };
    await expect(request('page 0')).rejects.toMatchObject(overloaded);
    await expect(request('new')).rejects.toMatchObject(overloaded);
    const other = request('page 0', { queueKey: 2 });
    free();
    const outcomes = await outcomesOf([...waiting, other]);
    expect(outcomes.filter((text) => !text.startsWith('page'))).toEqual([]);
    expect(reads).toHaveLength(10);
    // A page whose only request was rejected can be read later.
    expect(await request('new')).toBe('new 11');
  });
});

test('a request that comes after a read has started gets a read of its own', async () => {
  const readPage = createSharedPageReads<number>();
  let reads = 0;
  let finish = () => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  let start = () => {};
  const started = new Promise<void>((resolve) => {
    start = resolve;
  });
  const read = async () => {
    reads += 1;
    const own = reads;
    start();
    await finished;
    return own;
  };
  const of = (queueKey: number) => ({ queueKey, isAbandoned: () => false });
  const first = readPage('a', of(1), read);
  await started;
  const second = readPage('a', of(2), read);
  finish();
  expect(await Promise.all([first, second])).toEqual([1, 2]);
});

test('at most four pages are read at once', async () => {
  const readPage = createSharedPageReads<void>();
  let inProgress = 0;
  let most = 0;
  const read = async () => {
    inProgress += 1;
    most = Math.max(most, inProgress);
    await new Promise(setImmediate);
    inProgress -= 1;
  };
  const requests = Array.from({ length: 40 }, (_, index) =>
    readPage(`page ${index}`, { queueKey: index % 3, isAbandoned: () => false }, read),
  );
  await Promise.all(requests);
  expect(most).toBe(placeCount);
});

describe('on a database with groups of every environment', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
    const data = (['Customer', 'Testing', null] as const).map((environmentTag) => {
      const name = `of ${environmentTag}`;
      return { providedId: name, name, environmentTag, ...storedToken(`an imported token ${name}`) };
    });
    await database.prisma.userGroup.createMany({ data });
  });
  afterAll(() => database.close());

  test('callers that wait for the same list at the same time get only the groups that they have access to', async () => {
    const free = occupyPlaces();
    const services = bindQueries(database);
    const callerOf = (id: number, environmentTag: EnvironmentTag | null, scope: string) =>
      callerWith({
        id,
        name: 'test',
        environmentTag,
        scopes: [scope],
      });
    const pages = Array.from({ length: 3 }, (_, round) => [
      listUserGroups(services, callerOf(10 * round, 'Customer', 'groups:read'), {}),
      listUserGroups(services, callerOf(10 * round + 1, 'Testing', 'groups:read'), {}),
      listUserGroups(services, callerOf(10 * round + 2, null, 'groups:read'), {}),
      listUserGroups(services, callerOf(10 * round + 3, null, 'admin'), {}),
    ]);
    free();
    for (const round of pages) {
      const names = (await Promise.all(round)).map(({ edges }) => edges.map(({ node }) => node.name));
      expect(names).toEqual([['of Customer'], ['of Testing'], ['of null'], ['of null', 'of Testing', 'of Customer']]);
    }
  });
});
