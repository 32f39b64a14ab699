import type pg from 'pg';
import type { Caller } from '../../src/caller.ts';
import type { Database } from '../../src/database/client.ts';
import { writeCursor } from '../../src/database/list.ts';
import type { EnvironmentTag } from '../../src/generated/prisma/client.ts';
import {
  listUserGroups,
  type UserGroupFilter,
  type UserGroupListInput,
  type UserGroupOrder,
} from '../../src/user-groups/list.ts';
import { callerWith } from './caller.ts';
import { contextOn } from './queries.ts';

/** What a page of a list cost: the sum over its environments. */
export interface PlanCost {
  readonly title: string;
  /** Pages of 8 KiB that PostgreSQL read to find the positions, cached or not. */
  readonly buffers: number;
  /** The most that they may be, whatever the number of groups is. */
  readonly maxBuffers: number;
}

/** An order without a filter: the way down an index and its leaves, or one heap page for each position. */
const maxBuffersUnfiltered = 40;

/** Filters, with the most pages that they may read: for some, these grow with the table, far more slowly than it. */
const filters: readonly [title: string, filter: UserGroupFilter, maxBuffers: number][] = [
  // Most groups match: the index of the order is read until the page is full.
  ['a property of most', { properties: [{ path: ['plan'], equals: 'free' }] }, 200],
  ['a search that finds many', { search: 'WAYNE' }, 200],
  ...[13, 'none has it'].map((equals): [string, UserGroupFilter, number] => [
    `a property with an index: ${equals}`,
    { properties: [{ path: ['seats'], equals }] },
    30,
  ]),
  // The way down an index for each, and a heap page for each.
  ['100 ids', { providedIds: Array.from({ length: 100 }, (_, index) => `org-${index}`) }, 600],
  ...['Hooli SA c4ca4238', 'ΩMEGA MÜLLER', 'nothing like this'].map((search): [string, UserGroupFilter, number] => [
    `a search that finds few: ${search}`,
    { search },
    1_500,
  ]),
];

/** The index of a property that docs/performance.md shows. */
const indexOfSeats = "create index user_group_seats on user_group using hash (((properties #> '{seats}')::jsonb))";

/** Fills the table: half of the groups are untagged, most others Customer; 90 % share a property. Then gathers statistics. */
export async function fillGroups(pool: pg.Pool, count: number): Promise<void> {
  const client = await pool.connect();
  try {
    // An event for each would take most of the time.
    await client.query("set statement_timeout = 0; set gateway.silent = 'on'");
    const run = (text: string) => client.query({ text, query_timeout: 600_000 } as pg.QueryConfig);
    const { rows } = await client.query<{ name: string; definition: string }>(
      "select indexname as name, indexdef as definition from pg_indexes where tablename = 'user_group' and indexname <> 'user_group_pkey'",
    );
    for (const { name } of rows) await client.query(`drop index ${name}`);
    await run(`
      insert into user_group (provided_id, environment_tag, name, token_hash, token_encrypted, properties, created_at, updated_at)
      select 'org-' || n, (case when abs(hashint4(n)) % 10 < 5 then null when abs(hashint4(n)) % 10 < 9 then 'Customer' else 'Testing' end)::environment_tag,
        (array['Acme','Globex','Initech','Umbrella','Stark','Wayne','Hooli','Wonka','Müller','Ωmega'])[1 + abs(hashint4(n + 1)) % 10]
          || ' ' || (array['Ltd','Inc','GmbH','SA','AG','BV'])[1 + abs(hashint4(n + 2)) % 6] || ' ' || md5(n::text),
        sha256(n::text::bytea), sha256(n::text::bytea), case when n % 10 = 3 then json_build_object('plan', 'custom', 'seats', n) else '{"plan":"free"}'::json end,
        timestamptz '2025-01-01' + n * interval '30 seconds', timestamptz '2025-06-01' + abs(hashint4(n + 3)) % 10000000 * interval '1 second'
      from generate_series(1, ${count}) n`);
    for (const { definition } of rows) await run(definition);
    await run(indexOfSeats);
    await run('vacuum analyze user_group');
  } finally {
    client.release(true);
  }
}

const everyOrder: readonly UserGroupOrder[] = (['CREATED', 'UPDATED', 'NAME', 'PROVIDED_ID'] as const).flatMap((field) =>
  (['ASC', 'DESC'] as const).map((direction) => ({ field, direction })),
);
const columns = { CREATED: 'created_at', UPDATED: 'updated_at', NAME: 'name', PROVIDED_ID: 'provided_id' } as const;
const sortFields = { CREATED: 'createdAt', UPDATED: 'updatedAt', NAME: 'name', PROVIDED_ID: 'providedId' } as const;

/** Reads pages as a caller does, and has PostgreSQL explain each statement with a limit that it was sent for them. */
export async function costOfPages(database: Database): Promise<PlanCost[]> {
  const statements: { text: string; values: unknown[] }[] = [];
  const record = (client: pg.ClientBase) => {
    const query = client.query.bind(client);
    const recorded = (...args: unknown[]) => {
      const { text, values } = args[0] as { text?: string; values?: unknown[] };
      if (/team_id.*from .*user_group.* limit /is.test(text ?? ''))
        statements.push({ text: text as string, values: values ?? [] });
      return Reflect.apply(query, client, args);
    };
    client.query = recorded as typeof client.query;
  };
  database.pool.on('connect', record);

  async function costOf(title: string, caller: Caller, input: UserGroupListInput, maxBuffers: number): Promise<PlanCost> {
    statements.length = 0;
    await listUserGroups(contextOn(database, caller), input);
    const sent = [...statements];
    if (sent.length === 0) throw new Error(`${title}: no statement was recorded.`);
    let buffers = 0;
    for (const { text, values } of sent) {
      const { rows } = await database.pool.query<Explained>(`${explain} ${text}`, values);
      buffers += buffersOf(rows);
    }
    return { title, buffers, maxBuffers };
  }

  const costs: PlanCost[] = [];
  for (const tag of ['Customer', null] as const) {
    const caller = callerOf(tag, 'groups:read');
    for (const orderBy of everyOrder) {
      const title = `${tag ?? 'untagged'}, ${orderBy.field} ${orderBy.direction}`;
      for (const size of [{ first: 20 }, { last: 20 }] as const) {
        costs.push(await costOf(`${title}, ${Object.keys(size)}`, caller, { ...size, orderBy }, maxBuffersUnfiltered));
      }
      for (const part of [0.01, 0.5, 0.99]) {
        const cursor = await cursorAt(database, tag, orderBy.field, part);
        const where = `${title}, at ${100 * part} %`;
        costs.push(await costOf(`${where}, after`, caller, { first: 20, after: cursor, orderBy }, maxBuffersUnfiltered));
        costs.push(await costOf(`${where}, before`, caller, { last: 20, before: cursor, orderBy }, maxBuffersUnfiltered));
      }
    }
    for (const [title, filter, maxBuffers] of filters)
      costs.push(await costOf(`${tag ?? 'untagged'}, ${title}`, caller, { filter }, maxBuffers));
  }
  const admin = callerOf(null, 'admin');
  for (const orderBy of everyOrder) {
    costs.push(await costOf(`admin, ${orderBy.field} ${orderBy.direction}`, admin, { orderBy }, 3 * maxBuffersUnfiltered));
  }
  database.pool.off('connect', record);
  return costs;
}

const explain = 'explain (analyze, buffers, timing off, format json)';

interface Explained {
  readonly 'QUERY PLAN': readonly [{ readonly Plan: Readonly<Record<'Shared Hit Blocks' | 'Shared Read Blocks', number>> }];
}

function buffersOf([row]: readonly Explained[]): number {
  if (!row) throw new Error('PostgreSQL did not explain the statement.');
  const [{ Plan: plan }] = row['QUERY PLAN'];
  return plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
}

const callerOf = (environmentTag: EnvironmentTag | null, scope: string): Caller =>
  callerWith({
    id: 1,
    name: 'plans',
    environmentTag,
    scopes: [scope],
  });

/** The cursor of the group that so large a part of its environment precedes. */
async function cursorAt(
  { pool }: Database,
  tag: EnvironmentTag | null,
  field: UserGroupOrder['field'],
  part: number,
): Promise<string> {
  const column = columns[field];
  const { rows } = await pool.query<{ teamId: number; value: Date | string }>(
    `select team_id as "teamId", ${column} as value from user_group where environment_tag ${tag === null ? 'is null' : `= '${tag}'`}
     order by environment_tag, ${column} offset (
       select floor(count(*) * ${part}) from user_group where environment_tag ${tag === null ? 'is null' : `= '${tag}'`}) limit 1`,
  );
  const [row] = rows;
  if (!row) throw new Error('There are no groups.');
  return writeCursor(`UserGroup.${sortFields[field]}`, [row.value, row.teamId]);
}
