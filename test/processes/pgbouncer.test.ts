import { rmSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { makeDatabaseFolder } from '../support/database-folder.ts';
import { type PgBouncer, requirePgBouncer, startPgBouncer } from '../support/pgbouncer.ts';
import { endProcesses, run, serve } from '../support/process.ts';
import { sendRequest } from '../support/request.ts';

/** Fewer than the gateways: with one lock left on each of them, the last gateway would find none. */
const poolSize = 3;
const token = 'bootstrap-token-of-the-pooler-test';
const ignoring = 'ignore_startup_parameters = options';

let database: TestDatabase;
let name: string;
let bouncer: PgBouncer;
let settings: Record<string, string>;

beforeEach(async (context) => {
  requirePgBouncer(context);
  bouncer = await startPgBouncer(poolSize, undefined, ignoring);
  database = await createTestDatabase('template0');
  name = new URL(database.url).pathname.slice(1);
  // Times that are read and written as if they were in UTC, or in ISO 8601, are wrong by hours.
  await database.pool.query(
    `alter database ${name} set timezone = 'Asia/Kolkata'; alter database ${name} set datestyle = 'SQL, DMY'`,
  );
  settings = { DATABASE_URL: bouncer.url(name), DB_NAMED_STATEMENTS: 'false', BOOTSTRAP_API_TOKEN: token };
});
afterEach(async () => {
  await endProcesses();
  await bouncer?.close();
  await database?.close();
});

/** What is left on the server's connections: session locks, and settings that differ from the defaults. */
async function leftBehind() {
  const { rows: locks } = await database.pool.query(
    "select * from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())",
  );
  // Concurrently, so that each uses another connection.
  const clients = Array.from({ length: poolSize }, () => new pg.Client(settings['DATABASE_URL']));
  await Promise.all(clients.map((client) => client.connect()));
  await Promise.all(clients.map((client) => client.query('begin')));
  const changed = `select name, setting from pg_settings where source = 'session' and setting <> ''
    and name not in ('application_name', 'TimeZone', 'DateStyle', 'client_encoding', 'transaction_isolation')`;
  const results = await Promise.all(clients.map((client) => client.query(changed)));
  await Promise.all(clients.map((client) => client.end()));
  return { locks, settings: results.flatMap(({ rows }) => rows) };
}

/** A new group through one gateway, read through another. */
async function exchange(writer: string, reader: string, id: string): Promise<void> {
  const created = await sendRequest(writer, 'GET', '/api/user', { token, body: { user_group_id: id } });
  expect(created).toMatchObject({ status: 200, json: { new_user_group: true } });
  const change = { token, body: { user_group_id: id, name: 'renamed' }, headers: { 'idempotency-key': `"${id}"` } };
  const changed = await sendRequest(writer, 'PUT', '/api/user', change);
  expect(changed).toMatchObject({ status: 200 });
  const again = await sendRequest(reader, 'PUT', '/api/user', change);
  expect([again.text, again.headers.get('idempotency-replayed')]).toEqual([changed.text, 'true']);
  const query = `{ userGroup(by: { providedId: "${id}" }) { name createdAt updatedAt } }`;
  const { json } = await sendRequest(reader, 'POST', '/graphql', { token, body: { query } });
  const { createdAt, updatedAt, ...others } = json.data.userGroup;
  expect(others).toEqual({ name: 'renamed' });
  for (const time of [createdAt, updatedAt]) expect(Math.abs(Date.parse(time) - Date.now())).toBeLessThan(3_600_000);
}

test('four gateways behind PgBouncer in transaction mode all serve, and leave no lock and no setting', async () => {
  const gateways = await Promise.all(Array.from({ length: 3 }, () => serve(settings)));
  // One that leaves named statements behind.
  await (await serve({ ...settings, DB_NAMED_STATEMENTS: 'true' })).stop();
  gateways.push(await serve(settings));
  for (const [index, { url }] of gateways.entries()) await exchange(url, gateways[(index + 1) % 4]?.url ?? '', `group ${index}`);
  expect(await leftBehind()).toEqual({ locks: [], settings: [] });
});

test('a backup and a restore go through it, with the times as they were', async () => {
  const folder = makeDatabaseFolder();
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const gateway = await serve(settings);
  await exchange(gateway.url, gateway.url, 'group');
  const backup = join(folder, 'backup');
  expect(await run(['backup', backup], settings)).toMatchObject({ code: 0 });
  const target = await createTestDatabase('template0');
  onTestFinished(() => target.close());
  const restored = { ...settings, DATABASE_URL: bouncer.url(new URL(target.url).pathname.slice(1)) };
  expect(await run(['restore', backup], restored)).toMatchObject({ code: 0 });
  const text = 'select team_id, token_hash, extract(epoch from updated_at) as at from user_group';
  expect((await target.pool.query(text)).rows).toEqual((await database.pool.query(text)).rows);
});

test('doctor warns of a pooler that ignores the settings of a session, until the role has them, and names one that rejects them', async () => {
  const sessions = async (url: string) => {
    const { stdout } = await run(['doctor', '--json'], { ...settings, DATABASE_URL: url, DB_NAMED_STATEMENTS: 'true' });
    return JSON.parse(stdout).checks.find((check: { name: string }) => check.name === 'sessions');
  };
  const { status, found, remedy } = await sessions(bouncer.url(name));
  expect([status, found]).toEqual(['warning', expect.stringMatching(/enable_seqscan on.* look-ups may read whole tables/)]);
  // The role is that of other tests, too.
  await database.pool.query(remedy.replace('Run: ', '').replaceAll(/alter role \w+/g, `alter database ${name}`));
  await bouncer.close();
  bouncer = await startPgBouncer(poolSize, undefined, ignoring);
  expect(await sessions(bouncer.url(name))).toMatchObject({ status: 'ok' });
  await bouncer.close();
  bouncer = await startPgBouncer(poolSize);
  expect(await sessions(bouncer.url(name))).toMatchObject({
    status: 'failure',
    found: expect.stringContaining('a pooler rejects the settings of sessions: unsupported startup parameter'),
    remedy: 'Set DB_NAMED_STATEMENTS=false.',
  });
});
