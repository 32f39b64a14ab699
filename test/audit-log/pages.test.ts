import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type EventListInput, listEvents } from '../../src/audit-log/events.ts';
import { assignPositions } from '../../src/audit-log/feed.ts';
import type { Database } from '../../src/database/client.ts';
import { writeCursor } from '../../src/database/list.ts';
import { runHousekeeping } from '../../src/housekeeping/housekeeping.ts';
import type { Scope } from '../../src/scopes.ts';
import { callerWith } from '../support/caller.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { contextOn } from '../support/queries.ts';

const count = 120_000;
let database: TestDatabase;
let last: { text: string; values: unknown[] } | undefined;

/** One event in 10,000 is of Testing and of a rare kind, by a rare API token; the others are in the untagged environment. */
beforeAll(async () => {
  database = await createTestDatabase();
  database.pool.on('connect', (client) => {
    const query = client.query.bind(client);
    const recorded = (...args: unknown[]) => {
      const statement = args[0] as { text?: string; values?: unknown[] };
      if (/^select \* from .* from event e/is.test(statement.text ?? '')) last = statement as typeof last;
      return Reflect.apply(query, client, args);
    };
    client.query = recorded as typeof client.query;
  });
  await database.pool.query(`
    insert into event (type, environment, occurred_at, actor_kind, actor_name, actor_api_token_id, team_id, provided_id)
    select case when n % 10000 = 0 then 'api_token.revoked' when n = 77 then 'user_group.deleted' when n % 3 = 0 then 'user_group.created' else 'user_group.updated' end,
      case when n % 10000 = 0 then 'Testing' else 'Untagged' end::event_environment,
      timestamptz '2026-01-01' + n * interval '1 second', 'API_TOKEN', 'test', case when n % 10000 = 5 then 3 else 2 end, n % 5000, n % 5000
    from generate_series(1, ${count}) n`);
  while (await assignPositions(database.sql));
  await database.pool.query('vacuum analyze event');
});
afterAll(() => database.close());

/** The pages of 8 KiB that PostgreSQL reads for a page of events. */
async function buffersOf(environmentTag: 'Testing' | null, scope: Scope, input: EventListInput): Promise<number> {
  await listEvents(contextOn(database, callerWith({ environmentTag, scopes: [scope] })), input);
  const client = await database.pool.connect();
  try {
    const { text = '', values = [] } = last ?? {};
    if (input.filter) await client.query('begin; set local enable_seqscan = on');
    const { rows } = await client.query(`explain (analyze, buffers, timing off, format json) ${text}`, values as never);
    const { Plan: plan } = rows[0]['QUERY PLAN'][0];
    return plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
  } finally {
    await client.query('rollback');
    client.release();
  }
}

const at = (part: number) => new Date(Date.parse('2026-01-01') + part * count * 1_000);
const occurredAt = { from: at(0.2), to: at(0.21) };
const middle = writeCursor('Event', [at(0.5), BigInt(count / 2)]);

test.each<[string, 'Testing' | null, Scope, EventListInput]>([
  ['the newest of an environment', null, 'audit:read', {}],
  ['the newest of all', null, 'admin', {}],
  ['after the middle of an environment', null, 'audit:read', { after: middle }],
  ['of an environment with few events', 'Testing', 'audit:read', {}],
  ['of a group', null, 'audit:read', { filter: { userGroup: { teamId: 77 } } }],
  ['of a group, everywhere', null, 'admin', { filter: { userGroup: { teamId: 77 } } }],
  ['of a group that was deleted', null, 'admin', { filter: { userGroup: { providedId: '77' } } }],
  ['by an API token that is rarely used', null, 'admin', { filter: { apiTokenId: 3 } }],
  ['by an API token that is often used', null, 'admin', { filter: { apiTokenId: 2 } }],
  ['of a rare type', null, 'audit:read', { filter: { types: ['api_token.revoked'] } }],
  ['of two rare types', null, 'admin', { filter: { types: ['api_token.revoked', 'api_token.created'] } }],
  ['of a frequent type', null, 'audit:read', { filter: { types: ['user_group.created'] } }],
  ['of a time long ago', null, 'audit:read', { filter: { occurredAt } }],
  ['of a frequent type, long ago', null, 'audit:read', { filter: { types: ['user_group.updated'], occurredAt } }],
])('events %s come out of an index', async (_, environmentTag, scope, input) => {
  const { after: before, ...rest } = input;
  for (const page of [
    { first: 20, ...input },
    { last: 20, ...rest, before },
  ])
    expect(await buffersOf(environmentTag, scope, page)).toBeLessThanOrEqual(90);
});

test('a batch of housekeeping reads its own rows alone', async () => {
  const client: pg.PoolClient = await database.pool.connect();
  try {
    const controller = new AbortController();
    const sql: Database['sql'] = async <Row extends object>(name: string, text: string, values: readonly unknown[]) => {
      if (name !== 'remove-events') return database.sql<Row>(name, text, values);
      controller.abort();
      const { rows } = await client.query(`explain (analyze, buffers, timing off, format json) ${text}`, values as never);
      const { Plan: plan } = rows[0]['QUERY PLAN'][0];
      expect(plan['Shared Hit Blocks'] + plan['Shared Read Blocks']).toBeLessThan(4_000);
      return [];
    };
    const retentionDays = Math.floor((Date.now() - Date.parse('2026-01-01T12:00:00Z')) / 86_400_000);
    await runHousekeeping({ ...database, sql }, { retentionDays, signal: controller.signal });
    expect(controller.signal.aborted).toBe(true);
  } finally {
    client.release();
  }
});
