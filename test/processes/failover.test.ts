import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { connectDatabase, type Database } from '../../src/database/client.ts';
import { type BundledServer, startPair } from '../support/bundled-server.ts';
import { type DatabaseProxy, startDatabaseProxy } from '../support/database-proxy.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { until } from '../support/process.ts';

let primary: BundledServer;
let standby: BundledServer;
/** Leads to the primary, as HAProxy does. */
let endpoint: DatabaseProxy;
let database: Database;
let gateway: TestGateway;

beforeEach(async () => {
  ({ primary, standby } = await startPair(inject('createdDataDir')));
  endpoint = await startDatabaseProxy(primary.url);
  database = connectDatabase({ connectionString: endpoint.url });
  gateway = await startGateway({ ...database, url: endpoint.url });
});
afterEach(async () => {
  await gateway?.close();
  await database?.close();
  endpoint?.cut();
  await standby?.remove();
  await primary?.remove();
});

const getOrCreate = (id: string) => gateway.send('GET', '/api/user', { body: { user_group_id: id } });

test('after a failover, serves from the promoted server with every acknowledged write, and never from a standby', async () => {
  const created = await Promise.all(Array.from({ length: 20 }, (_, index) => getOrCreate(`group ${index}`)));
  expect(created.map(({ status }) => status)).toEqual(Array(20).fill(200));
  await primary.end('SIGQUIT');
  endpoint.moveTo(standby.url);
  // A response from the standby might be stale, and it takes no writes.
  for (const reply of [await getOrCreate('group 0'), await getOrCreate('new')]) {
    expect([reply.status, reply.json.code]).toEqual([503, 'UNAVAILABLE']);
    expect(reply.headers.get('retry-after')).toBe('1');
  }
  await standby.promote();
  const statuses: number[] = [];
  await until(async () => statuses.push((await getOrCreate('new')).status) && statuses.at(-1) === 200, 'writes are served');
  expect(new Set(statuses.slice(0, -1))).toEqual(new Set(statuses.length > 1 ? [503] : []));
  for (const [index, { json }] of created.entries())
    expect((await getOrCreate(`group ${index}`)).json).toEqual({ ...json, new_user_group: false });
});
