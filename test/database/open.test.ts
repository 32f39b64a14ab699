import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { openDatabase } from '../../src/database/open.ts';
import { createTestDatabase, inAscii } from '../support/database.ts';
import { startDatabaseProxy } from '../support/database-proxy.ts';

/** The messages for the operator. */
let events: string[];
const open = (databaseUrl: string, onEvent: (message: string) => void = (message) => void events.push(message)) =>
  openDatabase({ databaseUrl, dataDir: '/nowhere', namedStatements: true, onEvent });

beforeEach(() => {
  events = [];
});
afterEach(() => {
  vi.useRealTimers();
});

test('waits for an unreachable database, then fails with a message without the password', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const patience = (message: string) => {
    events.push(message);
    vi.setSystemTime(Date.now() + 11_000);
  };
  const failure = await open('postgresql://somebody:pass%40word@127.0.0.1:1/gateway', patience).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(Error);
  const { message } = failure as Error;
  expect(message).toContain('Cannot connect to the database at 127.0.0.1:1/gateway');
  expect(message).toContain('ECONNREFUSED');
  expect(message).toContain('DATABASE_URL');
  expect(events).toEqual(['waiting for the database at 127.0.0.1:1/gateway']);
  expect(`${message} ${events}`).not.toMatch(/pass(%40|@)word/);
});

test('reports a wrong password or a missing database immediately', async () => {
  const database = await createTestDatabase();
  const url = new URL(database.url);
  url.password = 'another-password';
  await expect(open(url.href)).rejects.toThrow(/password authentication failed.*Check DATABASE_URL/);
  await expect(open(url.href)).rejects.not.toThrow('another-password');
  const { href } = new URL('/no_such_database', database.url);
  await expect(open(href)).rejects.toThrow(/"no_such_database" does not exist.*Check DATABASE_URL/);
  expect(events).toEqual([]);
  await database.close();
});

test('opens as many connections as it may, and no more', async () => {
  const database = await createTestDatabase();
  const options = { databaseUrl: database.url, dataDir: '/nowhere', namedStatements: true, onEvent: () => {} };
  for (const poolSize of [2, 12]) {
    const opened = await openDatabase({ ...options, poolSize });
    const statement = 'select pg_backend_pid(), pg_sleep(0.05)';
    const pids = await Promise.all(
      Array.from({ length: 24 }, async () => (await opened.pool.query(statement)).rows[0].pg_backend_pid),
    );
    expect(new Set(pids).size).toBe(poolSize);
    await opened.close();
  }
  await database.close();
});

test.each([
  ['timezone', 'Asia/Kolkata', 'UTC'],
  ['statement_timeout', '0', '10s'],
])('without named statements, warns of sessions that begin with %s = %s', async (name, value, required) => {
  const database = await createTestDatabase();
  onTestFinished(() => database.close());
  for (const [parameter, given] of Object.entries({ statement_timeout: '10s', lock_timeout: '4s', [name]: value }))
    await database.pool.query(`alter database ${new URL(database.url).pathname.slice(1)} set ${parameter} = '${given}'`);
  await (await open(database.url)).close();
  expect(events).toEqual([]);
  const options = { databaseUrl: database.url, dataDir: '/nowhere', namedStatements: false };
  const opened = await openDatabase({ ...options, onEvent: (message) => void events.push(message) });
  await opened.close();
  expect(events).toEqual([expect.stringContaining(`begin with ${name} ${value}`)]);
  expect(events[0]).toMatch(new RegExp(`Run: alter role \\w+ set ${name} = '${required}';$`));
});

test('refuses sessions whose tables would be in another schema than public, until they are set to it', async () => {
  const database = await createTestDatabase();
  onTestFinished(() => database.close());
  await database.pool.query('create schema "other one"');
  const url = `${database.url}?options=${encodeURIComponent('-c search_path="other\\ one",public')}`;
  await expect(open(url)).rejects.toThrow(/^The schema "other one" comes first .* must be in public\. Run: alter role/);
  const { username, pathname } = new URL(database.url);
  await database.pool.query(`alter role ${username} in database ${pathname.slice(1)} set search_path = "other one", public`);
  const refusal: Error = await open(database.url).catch((error) => error);
  await database.pool.query(/Run: (alter role .*? = public);/.exec(refusal.message)?.[1] ?? '');
  await (await open(database.url)).close();
});

test('refuses a database of another encoding than UTF8 before anything is created in it, and takes one made as the message says', async () => {
  const database = await createTestDatabase(inAscii);
  onTestFinished(() => database.close());
  const refusal: Error = await open(database.url).catch((error) => error);
  expect(refusal.message).toMatch(/^The database test_\w+ has the encoding SQL_ASCII, and the gateway needs UTF8/);
  expect((await database.pool.query("select from pg_class where relnamespace = 'public'::regnamespace")).rowCount).toBe(0);

  const options = /create database NAME (.*?);/.exec(refusal.message)?.[1];
  const { pathname } = new URL(database.url);
  await database.pool.query(`create database ${pathname.slice(1)}_utf8 ${options}`);
  onTestFinished(async () => void (await database.pool.query(`drop database ${pathname.slice(1)}_utf8 with (force)`)));
  await (await open(`${database.url}_utf8`)).close();
});

test('waits for a database that is lost at any message of what is checked first', async () => {
  const database = await createTestDatabase();
  const proxy = await startDatabaseProxy(database.url);
  const options = { databaseUrl: proxy.url, dataDir: '/nowhere', namedStatements: false };
  let skipped = -1;
  do {
    skipped += 1;
    events = [];
    proxy.endNext('close', skipped);
    const opened = await openDatabase({ ...options, onEvent: (message) => void events.push(message) });
    await opened.close();
  } while (events.some((message) => message.startsWith('waiting for the database')));
  expect(skipped).toBeGreaterThan(4);
  proxy.cut();
  await database.close();
});
