import { afterEach, beforeEach, expect, test } from 'vitest';
import { connectDatabase, type Database } from '../../src/database/client.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let client: Database;
beforeEach(async () => {
  database = await createTestDatabase();
  client = connectDatabase({ connectionString: database.url }, { namedStatements: true, poolSize: 1 });
});
afterEach(async () => {
  await client.close();
  await database.close();
});

const alter = (what: string) => database.pool.query(`alter database ${new URL(database.url).pathname.slice(1)} ${what}`);

test('a server that takes no writes is refused, and used once it takes them', async () => {
  await alter('set default_transaction_read_only = on');
  await expect(client.pool.query('select 1')).rejects.toMatchObject({
    message: 'the server takes no writes (default_transaction_read_only is on)',
    code: '25006',
  });
  await alter('reset default_transaction_read_only');
  expect((await client.pool.query('select 1')).rowCount).toBe(1);
});

const text = 'delete from api_token';
test.each<[string, (client: Database) => Promise<unknown>]>([
  ['of the driver', ({ sql }) => sql('delete', text, [])],
  ['of Prisma', ({ prisma }) => prisma.apiToken.deleteMany()],
  ['of a transaction of Prisma', ({ prisma }) => prisma.$transaction((each) => each.apiToken.deleteMany())],
  ['by hand in a transaction of Prisma', ({ prisma }) => prisma.$transaction((each) => each.$queryRawUnsafe(text))],
])('a connection whose server became read-only is closed when it refuses a write %s', async (_, write) => {
  await client.pool.query('set default_transaction_read_only = on');
  await expect(write(client)).rejects.toThrow(/read-only/);
  await write(client);
  expect(client.pool.totalCount).toBe(1);
});
