import { rmSync } from 'node:fs';
import pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { connectDatabase } from '../../src/database/client.ts';
import { openEmbedded } from '../../src/database/embedded/embedded.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { makeDatabaseFolder } from '../support/database-folder.ts';
import { startDatabaseProxy } from '../support/database-proxy.ts';
import { until } from '../support/process.ts';

let database: TestDatabase;
let folder: string;
let other: Awaited<ReturnType<typeof openEmbedded>>;
/** A server of another cluster, which has the same user, password and database. */
let otherAddress: string;
let otherUrl: string;
beforeAll(async () => {
  database = await createTestDatabase();
  folder = makeDatabaseFolder();
  other = await openEmbedded(folder, { settings: ['fsync=off'] });
  const { user, password, host, port } = other.connection('postgres');
  const url = new URL(database.url);
  const admin = new pg.Client({ user, password, host, port, database: 'postgres' });
  await admin.connect();
  await admin.query(`create database "${url.pathname.slice(1)}"`);
  await admin.query(`alter role ${admin.escapeIdentifier(url.username)} password ${admin.escapeLiteral(url.password)}`);
  await admin.end();
  otherAddress = `${host}:${port}`;
  url.host = otherAddress;
  otherUrl = url.href;
});
afterAll(async () => {
  await other?.close();
  rmSync(folder, { recursive: true, force: true });
  await database?.close();
});

const urlOf = (...addresses: string[]) => database.url.replace(/@[^/]*/, `@${addresses.join(',')}`);

async function onOther(statement: string): Promise<void> {
  const client = new pg.Client(otherUrl);
  await client.connect();
  await client.query(statement);
  await client.end();
}

test('does not choose between servers of different clusters that take writes, because either may have the data', async () => {
  const ambiguous = connectDatabase({ connectionString: urlOf(otherAddress, new URL(database.url).host) });
  onTestFinished(() => ambiguous.close());
  await expect(ambiguous.pool.query('create table misplaced ()')).rejects.toThrow(/different clusters.*DATABASE_URL/);
});

test('never moves to a server of another cluster, and says why', async () => {
  const proxy = await startDatabaseProxy(database.url);
  await onOther('alter system set default_transaction_read_only = on');
  await onOther('select pg_reload_conf()');
  const otherProxy = await startDatabaseProxy(otherUrl);
  onTestFinished(() => otherProxy.cut());
  const several = connectDatabase({ connectionString: urlOf(otherProxy.address, proxy.address) });
  onTestFinished(() => several.close());
  const session = async () => (await several.pool.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid;
  const first = await session();

  await onOther('alter system reset default_transaction_read_only');
  await onOther('select pg_reload_conf()');
  const asked = otherProxy.accepted();
  await until(() => otherProxy.accepted() > asked + 2, 'the other server was asked again');
  expect(await session()).toBe(first);

  proxy.cut();
  await expect(several.pool.query('create table misplaced ()')).rejects.toThrow();
  await until(async () => {
    const error = await several.pool.query('create table misplaced ()').catch((each: Error) => each);
    return error instanceof Error && /belongs to another cluster .*restart/.test(error.message);
  }, 'the other server is refused with the reason');
});
