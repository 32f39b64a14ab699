import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

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

  await put(null);
  expect(await latest()).toEqual({
    changes: { properties: { from: { a: 2, large: 'small' }, to: null, omitted: { from: { longest: digest(long) }, to: {} } } },
    bytes: expect.toSatisfy((bytes: number) => bytes < 400),
  });
});
