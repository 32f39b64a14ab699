import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { endProcesses, serve, until } from '../support/process.ts';

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
  // Otherwise PostgreSQL might update the statistics itself.
  await database.pool.query('alter table retired_token set (autovacuum_enabled = off)');
});
afterEach(async () => {
  await endProcesses();
  await database.close();
});

test('a gateway updates the statistics of a table each time that it has doubled, and logs no warning', async () => {
  const gateway = await serve({ DATABASE_URL: database.url });
  await database.pool.query("insert into user_group (provided_id, name, token_hash, token_encrypted) values ('a', 'a', '', '')");
  for (const known of [2_000, 4_000]) {
    await database.pool.query(`
      insert into retired_token (token_hash, token_encrypted, team_id, expires_at)
      select sha256(gen_random_uuid()::text::bytea), '', team_id, now() + interval '1 hour'
      from user_group, generate_series(1, 2000)`);
    const knownRows = "select reltuples::int as known from pg_class where relname = 'retired_token'";
    await until(async () => (await database.pool.query(knownRows)).rows[0].known === known, `${known} rows are known`);
  }
  const { code, stderr } = await gateway.stop();
  expect([code, stderr]).toEqual([0, expect.not.stringMatching(/"level":"?(?:40|50|warn|error)/)]);
});
