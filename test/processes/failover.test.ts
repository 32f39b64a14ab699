import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { connectDatabase, type Database } from '../../src/database/client.ts';
import { openDatabase } from '../../src/database/open.ts';
import { type BundledServer, startPair } from '../support/bundled-server.ts';
import { type DatabaseProxy, startDatabaseProxy } from '../support/database-proxy.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { until } from '../support/process.ts';

let primary: BundledServer;
let standby: BundledServer;
let proxy: DatabaseProxy;
let database: Database;
let gateway: TestGateway;

/** The standby stands first, so that the order alone does not find the primary. */
const urlOf = (...addresses: string[]) => `postgresql://${primary.user}@${addresses.join(',')}/user_group_gateway`;

beforeEach(async () => {
  ({ primary, standby } = await startPair(inject('createdDataDir')));
  proxy = await startDatabaseProxy(primary.url);
  const url = urlOf(standby.address, proxy.address);
  database = connectDatabase({ connectionString: url });
  gateway = await startGateway({ ...database, url });
});
afterEach(async () => {
  await gateway?.close();
  await database?.close();
  proxy?.cut();
  await standby?.remove();
  await primary?.remove();
});

const getOrCreate = (id: string) => gateway.send('GET', '/api/user', { body: { user_group_id: id } });

/** Creates groups until one is acknowledged again. @returns the other responses. */
async function createUntilServed(id: string) {
  const refused: Awaited<ReturnType<typeof getOrCreate>>[] = [];
  await until(async () => {
    const reply = await getOrCreate(id);
    if (reply.status !== 200) refused.push(reply);
    return reply.status === 200;
  }, 'writes are served again');
  return refused;
}

test('after a failover, serves from the promoted server with every acknowledged write, and never from the old primary again', async () => {
  const created = await Promise.all(Array.from({ length: 20 }, (_, index) => getOrCreate(`group ${index}`)));
  expect(created.map(({ status }) => status)).toEqual(created.map(() => 200));
  const { secret: revoked, id } = await gateway.issue();
  await database.prisma.apiToken.update({ where: { id }, data: { revokedAt: new Date() } });

  await primary.end('SIGQUIT');
  // Only the standby is left: a response from it might be stale, and it takes no writes.
  for (const reply of [await getOrCreate('group 0'), await getOrCreate('new')]) {
    expect([reply.status, reply.json.code]).toEqual([503, 'UNAVAILABLE']);
    expect(reply.headers.get('retry-after')).toBe('1');
  }
  await standby.promote();
  for (const { status } of await createUntilServed('new')) expect(status).toBe(503);

  for (const [index, { json }] of created.entries())
    expect((await getOrCreate(`group ${index}`)).json).toEqual({ ...json, new_user_group: false });
  expect((await gateway.send('GET', '/api/user', { token: revoked, body: { user_group_id: 'x' } })).status).toBe(401);

  // The old primary comes back and takes writes, as nothing keeps it from doing: a gateway that starts now chooses the promoted
  // one.
  await primary.start();
  await primary.query('alter system reset synchronous_standby_names');
  await primary.query('select pg_reload_conf()');
  const restarted = await openDatabase({
    databaseUrl: urlOf(primary.address, standby.address),
    dataDir: '',
    namedStatements: true,
    onEvent: () => {},
  });
  try {
    expect((await restarted.pool.query(`select from user_group where provided_id = 'new'`)).rowCount).toBe(1);
  } finally {
    await restarted.close();
  }
});

test('a primary that vanishes without closing connections is noticed within seconds', async () => {
  expect((await getOrCreate('before')).status).toBe(200);
  proxy.freeze();
  const waiting = getOrCreate('meanwhile');
  await standby.promote();
  const reply = await waiting;
  expect([reply.status, reply.json.detail]).toEqual([503, expect.stringMatching(/change may have been made.*safe to repeat/)]);
  for (const { status } of await createUntilServed('after')) expect(status).toBe(503);
  // Not after the time limit of a statement, which each connection would have to wait for.
  expect(gateway.log.join('\n')).toContain('no longer the primary');
  expect(gateway.log.join('\n')).not.toContain('Query read timeout');
  expect((await getOrCreate('before')).json.new_user_group).toBe(false);
});

test('moves to a server that was promoted although nothing ended the old primary', async () => {
  expect((await getOrCreate('before')).status).toBe(200);
  await standby.promote();
  await until(async () => {
    await getOrCreate('after');
    return (await standby.query(`select from user_group where provided_id = 'after'`)).length === 1;
  }, 'the promoted server gets the writes');
  expect((await getOrCreate('before')).json.new_user_group).toBe(false);
});
