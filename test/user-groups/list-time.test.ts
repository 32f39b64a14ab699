import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Context } from '../../src/app.ts';
import { listUserGroups } from '../../src/user-groups/list.ts';
import { callerWith } from '../support/caller.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { holdWrites } from '../support/hold-writes.ts';
import { storedToken } from '../support/keys.ts';
import { contextOn } from '../support/queries.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  const data = ['a', 'b', 'c'].map((name) => ({ providedId: name, name, ...storedToken(`an imported token ${name}`) }));
  await database.prisma.userGroup.createMany({ data });
});
afterAll(() => database.close());

const contextFor = (id: number): Context =>
  contextOn(database, callerWith({ id, name: 'test', environmentTag: null, scopes: ['admin'] }));
const tooLong = {
  code: 'UNAVAILABLE',
  message: 'Reading the list took longer than 2 seconds and was stopped. Narrow the filter.',
};

test('a filtered page that takes longer than two seconds is stopped, and counting is null; others are still served', async () => {
  const page = await listUserGroups(contextFor(1), {});
  // Every read of user groups now waits for a lock, as a search through many of them would take its time.
  const held = await holdWrites(database.url);
  let isAbandoned = false;
  const search = (id: number) =>
    listUserGroups({ ...contextFor(id), isAbandoned: () => isAbandoned }, { filter: { search: 'a' } }).catch(
      ({ code, message }) => ({ code, message }),
    );
  const count = page.totalCount();
  const searches = Array.from({ length: 12 }, (_, index) => search(index));
  const isFirstStopped = Promise.race([count, ...searches]).then(() => true);
  await held.untilOneWaits();
  // A connection is free while they wait.
  expect(await Promise.race([database.prisma.apiToken.count(), isFirstStopped])).toBe(0);
  isAbandoned = true;
  expect(await count).toBeNull();
  expect(await page.totalCount()).toBeNull();
  const results = await Promise.all(searches);
  await held.release();
  // Four at once, one of them the count; the others had not started, and their responses are no longer needed.
  expect(results.slice(0, 3)).toEqual([tooLong, tooLong, tooLong]);
  expect(new Set(results.slice(3).map((result) => 'message' in result && result.message))).toEqual(
    new Set(['The request was abandoned: it timed out or the client disconnected.']),
  );
  expect(await (await listUserGroups(contextFor(1), { filter: { search: 'a' } })).totalCount()).toBe(1);
});

test('however many pages are read at once, connections remain for other requests', async () => {
  const held = await holdWrites(database.url);
  const pages = Array.from({ length: 20 }, (_, index) => listUserGroups(contextFor(index), {}));
  await held.untilOneWaits();
  expect(await database.prisma.apiToken.count()).toBe(0);
  await held.release();
  for (const page of await Promise.all(pages)) expect(page.edges).toHaveLength(3);
});
