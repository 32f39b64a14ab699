import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { costOfPages, fillGroups } from '../support/list-plans.ts';

const groups = 60_000;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await fillGroups(database.pool, groups);
});
afterAll(() => database.close());

test('every page of an order reads as few pages of the database as the first one, and filters use an index', async () => {
  const costs = await costOfPages(database);
  expect(costs.length).toBeGreaterThan(100);
  expect(costs.filter(({ buffers, maxBuffers }) => buffers > maxBuffers)).toEqual([]);
});
