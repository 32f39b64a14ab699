import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { assignPositions } from '../../src/audit-log/feed.ts';
import { type EventQuery, findEvents } from '../../src/audit-log/list.ts';
import type { Database } from '../../src/database/client.ts';
import { limitStatementTime } from '../../src/database/timed-read.ts';
import { runHousekeeping } from '../../src/housekeeping/housekeeping.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

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
      if (/^select .* from "public"."event" /is.test(statement.text ?? '')) last = statement as typeof last;
      return Reflect.apply(query, client, args);
    };
    client.query = recorded as typeof client.query;
  });
  await database.pool.query(`
    insert into event (type, environment, occurred_at, actor_kind, actor_name, actor_api_token_id, team_id, provided_id)
    select case when n % 10000 = 0 then 'api_token.revoked' when n % 3 = 0 then 'user_group.created' else 'user_group.updated' end,
      case when n % 10000 = 0 then 'Testing' else 'Untagged' end::event_environment,
      timestamptz '2026-01-01' + n * interval '1 second', 'API_TOKEN', 'test', case when n % 10000 = 5 then 3 else 2 end, n % 5000, n % 5000
    from generate_series(1, ${count}) n`);
  while (await assignPositions(database.sql));
  await database.pool.query('vacuum analyze event');
});
afterAll(() => database.close());

/** The pages of 8 KiB that PostgreSQL reads for a page of events, as a filtered list reads them. */
async function buffersOf(query: Omit<EventQuery, 'limit'>): Promise<number> {
  await database.prisma.$transaction(async (transaction) => {
    await limitStatementTime(transaction, 10_000);
    await findEvents(transaction, { ...query, limit: 21 });
  });
  const { text = '', values = [] } = last ?? {};
  const { rows } = await database.pool.query(`explain (analyze, buffers, timing off, format json) ${text}`, values as never);
  const { Plan: plan } = rows[0]['QUERY PLAN'][0];
  return plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
}

const everywhere = ['Customer', 'Testing', 'Untagged', 'None'] as const;
const at = (part: number) => ({
  occurredAt: new Date(Date.parse('2026-01-01') + part * count * 1_000),
  id: BigInt(part * count),
});
const time = { from: at(0.2).occurredAt, to: at(0.21).occurredAt };

test.each<[string, Omit<EventQuery, 'limit' | 'direction'>]>([
  ['the newest of an environment', { environments: ['Untagged'], conditions: {} }],
  ['after the middle of an environment', { environments: ['Untagged'], conditions: {}, start: at(0.5) }],
  ['of an environment with few events', { environments: ['Testing'], conditions: {} }],
  ['of a group', { environments: ['Untagged'], conditions: { teamIds: [77] } }],
  ['of a group, everywhere', { environments: everywhere, conditions: { teamIds: [77] } }],
  ['of two groups', { environments: everywhere, conditions: { teamIds: [77, 78] } }],
  ['by an API token that is rarely used', { environments: everywhere, conditions: { actorApiTokenId: 3 } }],
  ['by an API token that is often used', { environments: everywhere, conditions: { actorApiTokenId: 2 } }],
  ['about an API token', { environments: everywhere, conditions: { subjectApiTokenId: 3 } }],
  ['of a rare type', { environments: ['Untagged'], conditions: { types: ['api_token.revoked'] } }],
  ['of two rare types', { environments: ['Untagged'], conditions: { types: ['api_token.revoked', 'api_token.created'] } }],
  ['of a frequent type', { environments: ['Untagged'], conditions: { types: ['user_group.created'] } }],
  ['of a time long ago', { environments: ['Untagged'], conditions: { occurredAt: time } }],
  [
    'of a frequent type, long ago',
    { environments: ['Untagged'], conditions: { types: ['user_group.updated'], occurredAt: time } },
  ],
])('events %s come out of an index', async (_, query) => {
  for (const direction of ['desc', 'asc'] as const) expect(await buffersOf({ ...query, direction })).toBeLessThanOrEqual(90);
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
      return [{ isHeld: true, rows: 500 }] as unknown as Row[];
    };
    const retentionDays = Math.floor((Date.now() - Date.parse('2026-01-01T12:00:00Z')) / 86_400_000);
    await runHousekeeping({ ...database, sql }, { retentionDays, signal: controller.signal });
    expect(controller.signal.aborted).toBe(true);
  } finally {
    client.release();
  }
});
