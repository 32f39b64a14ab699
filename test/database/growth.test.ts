import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectDatabase, type Database } from '../../src/database/client.ts';
import { updateGrownStatistics } from '../../src/database/table-statistics.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createToken, introspectToken } from '../support/embed-tokens.ts';
import { type Reply, startGateway, type TestGateway } from '../support/gateway.ts';
import { importText } from '../support/group-files.ts';
import { apiTokenId } from '../support/node-id.ts';
import { until } from '../support/process.ts';

/** How many groups the database grows by; other tables by twice as many rows, which are smaller. */
const growth = 4_000;

/**
 * The most pages of a table and its indexes that a request may read: the ways down the indexes, and the rows. After it has grown,
 * each table that is read here has more.
 */
const maxPages = 75;

let database: TestDatabase;
/** Over one connection, so that what a request reads is counted there. */
let single: Database;
let gateway: TestGateway;
let admin: string;
let replacedSecret: string;
let retiredToken: string;
let count = 0;

const success = async (reply: Promise<Reply>): Promise<Reply['json']> => {
  const { status, json } = await reply;
  expect([status, JSON.stringify(json)]).toEqual([200, expect.not.stringMatching(/"errors"|Error"/)]);
  return json;
};
const graphql = (query: string, variables: object = {}, headers: Record<string, string> = {}) =>
  success(gateway.graphql(query, variables as Record<string, unknown>, { token: admin, headers }));
const create = async (): Promise<{ team_id: number; provided_id: string; token: string }> => {
  count += 1;
  const json = await success(gateway.send('GET', '/api/user', { body: { user_group_id: `group ${count}` } }));
  return json.user_group;
};

const update = (input: string) => `mutation ($by: UserGroupBy!) { updateUserGroup(input: { by: $by, ${input} }) { __typename } }`;
const lookUp = 'query ($by: UserGroupBy!) { userGroup(by: $by) { name } }';
const rotation = `mutation ($currentToken: String!) {
  rotateUserGroupToken(input: { currentToken: $currentToken, graceSeconds: 600 }) { __typename } }`;
const revocation = `mutation ($by: UserGroupBy!) { revokeEmbedTokens(input: { by: $by, viewerId: "v" }) { __typename } }`;
const suspension = 'mutation ($by: UserGroupBy!) { suspendUserGroup(input: { by: $by }) { __typename } }';
const move = `mutation ($by: UserGroupBy!) {
  setUserGroupEnvironment(input: { by: $by, environmentTag: CUSTOMER }) { __typename } }`;
const deletion = 'mutation ($by: UserGroupBy!) { deleteUserGroup(input: { by: $by }) { __typename } }';
const eventsOfGroup = `query ($id: Int!) { events(first: 5, filter: { userGroup: { teamId: $id } }) { nodes { type } } }`;
type Group = Awaited<ReturnType<typeof create>>;

/** Changes nothing from the second time on. */
const keyed = () =>
  graphql('mutation { getOrCreateUserGroup(input: { providedId: "keyed" }) { __typename } }', {}, { 'idempotency-key': 'key' });

const lookUps: Record<string, (group: Group) => Promise<unknown>> = {
  'get-or-create of an existing group': ({ provided_id }) =>
    success(gateway.send('GET', '/api/user', { body: { user_group_id: provided_id } })),
  'a look-up by number': ({ team_id }) => graphql(lookUp, { by: { teamId: team_id } }),
  'a look-up by provided id': ({ provided_id }) => graphql(lookUp, { by: { providedId: provided_id } }),
  'a look-up by token': ({ token }) => graphql(lookUp, { by: { token } }),
  'a look-up by a retired token': () => graphql(lookUp, { by: { token: retiredToken } }),
  'nodes without their JSON': ({ team_id }) =>
    graphql('query ($ids: [ID!]!) { nodes(ids: $ids) { ... on UserGroup { name } } }', { ids: [btoa(`UserGroup:${team_id}`)] }),
  'the introspection of an embed token with a viewer': async ({ team_id }) => {
    const { token } = await createToken(gateway, admin, { by: { teamId: team_id }, viewer: { id: 'v' } });
    expect((await success(introspectToken(gateway, admin, token))).active).toBe(true);
  },
  'a replaced secret of an API token': () => success(gateway.graphql('{ caller { id } }', {}, { token: replacedSecret })),
  'the stored response to a request with an idempotency key': keyed,
  'a page of groups': () => graphql('{ userGroups(first: 5) { nodes { name } } }'),
};

const others: Record<string, (group: Group) => Promise<unknown>> = {
  'get-or-create of a new group': create,
  'an update by number': ({ team_id }) => graphql(update('name: "a"'), { by: { teamId: team_id } }),
  'an update by provided id': ({ provided_id }) => graphql(update('name: "b"'), { by: { providedId: provided_id } }),
  'a merge patch': ({ team_id }) => graphql(update(`mergeProperties: { a: ${count} }`), { by: { teamId: team_id } }),
  'a rotation': ({ token }) => graphql(rotation, { currentToken: token }),
  'a revocation of the embed tokens of a viewer': ({ team_id }) => graphql(revocation, { by: { teamId: team_id } }),
  'a suspension, and its end': async ({ team_id }) => {
    await graphql(suspension, { by: { teamId: team_id } });
    await graphql(suspension.replace('suspend', 'resume'), { by: { teamId: team_id } });
  },
  'a change of environment': ({ team_id }) => graphql(move, { by: { teamId: team_id } }),
  'a deletion': ({ team_id }) => graphql(deletion, { by: { teamId: team_id } }),
  'a request with an idempotency key': ({ team_id }) =>
    graphql(update('name: "c"'), { by: { teamId: team_id } }, { 'idempotency-key': `key-${count}` }),
  'a page of events of one group': ({ team_id }) => graphql(eventsOfGroup, { id: team_id }),
  'a page of events': () => graphql('{ events(first: 5) { nodes { type } } }'),
};

/** Pages of tables and their indexes that connection has read, cached or not, by table. */
async function readPages(): Promise<Map<string, number>> {
  await single.pool.query('select pg_stat_force_next_flush()');
  const { rows } = await single.pool.query<{ table: string; pages: number }>(
    `select relname as table, (heap_blks_hit + heap_blks_read + idx_blks_hit + idx_blks_read)::int as pages from pg_statio_user_tables`,
  );
  return new Map(rows.map(({ table, pages }) => [table, pages]));
}

/**
 * Does something over connections of its own, and waits until they have ended: PostgreSQL adds what a connection has read to the
 * counts up to ten seconds later, or when it ends.
 */
async function elsewhere(use: (other: TestDatabase) => Promise<void>): Promise<void> {
  const connected = connectDatabase(
    { connectionString: `${database.url}?application_name=elsewhere` },
    { namedStatements: true },
  );
  await use({ ...database, ...connected }).finally(() => connected.close());
  const connections = "select from pg_stat_activity where datname = current_database() and application_name = 'elsewhere'";
  await until(async () => (await single.pool.query(connections)).rowCount === 0, 'the other connections have ended');
}

/** Adds groups as another gateway does, and rows to the other tables. */
async function grow(shared: TestDatabase): Promise<void> {
  const other = await startGateway(shared);
  const bulk = `mutation ($groups: [GetOrCreateUserGroupInput!]!) { getOrCreateUserGroups(input: { groups: $groups }) { __typename } }`;
  for (let first = 0; first < growth; first += 100) {
    const groups = Array.from({ length: 100 }, (_, index) => ({ providedId: `grown ${first + index}`, name: 'Grown' }));
    await success(other.graphql(bulk, { groups }));
  }
  await other.close();
  for (const rows of [
    "retired_token (token_hash, token_encrypted, team_id, expires_at) select hash, hash, (select max(team_id) from user_group), now() + interval '1 hour'",
    "api_token (name, secret_hash, scopes) select 'grown', hash, '{groups:read}'",
    "revoked_viewer (team_id, viewer_id, generation, expires_at) select (select max(team_id) from user_group), hash::text, 1, now() + interval '1 hour'",
    'retired_secret (secret_hash, api_token_id, expires_at) select hash, 1, now()',
    "idempotency_record (api_token_id, key_hash, fingerprint, encryption_key_id, response_encrypted) select 1, hash, hash, '0001', hash",
  ]) {
    await shared.pool.query(
      `insert into ${rows} from (select sha256(n::text::bytea) as hash from generate_series(1, ${2 * growth}) n)`,
    );
  }
}

/**
 * The tables of which a request has read more than a few pages, each of the two times that it is sent: what the gateway writes by
 * itself, such as when groups were last resolved, is counted with the request that is sent meanwhile.
 */
async function tablesReadBy(request: (group: Group) => Promise<unknown>): Promise<[table: string, pages: number][]> {
  const first = await pagesReadBy(request);
  const second = await pagesReadBy(request);
  return [...first].filter(([table, pages]) => Math.min(pages, second.get(table) ?? 0) > maxPages);
}

async function pagesReadBy(request: (group: Group) => Promise<unknown>): Promise<Map<string, number>> {
  const group = await create();
  const before = await readPages();
  await request(group);
  return new Map([...(await readPages())].map(([table, pages]) => [table, pages - (before.get(table) ?? 0)]));
}

/** Starts a gateway on a database, sends it each request until its plans are made, and lets all tables grow. */
async function serveAndGrow(statistics: 'none' | 'of few groups' | 'of many groups of Customer'): Promise<void> {
  database = await createTestDatabase();
  // Otherwise PostgreSQL might update the statistics itself.
  const { rows } = await database.pool.query<{ name: string }>('select relname as name from pg_stat_user_tables');
  for (const { name } of rows) await database.pool.query(`alter table ${name} set (autovacuum_enabled = off)`);
  single = connectDatabase({ connectionString: database.url }, { namedStatements: true, poolSize: 1 });
  gateway = await startGateway({ ...database, ...single });
  // Begins no work of its own, such as giving events their positions, which would be counted as that of a request.
  gateway.drain();
  admin = (await gateway.issue({ scopes: ['admin'] })).secret;
  const { secret, id } = await gateway.issue();
  replacedSecret = secret;
  await graphql('mutation ($id: ID!) { rotateApiToken(input: { id: $id, overlapSeconds: 3600 }) { __typename } }', {
    id: apiTokenId(id),
  });
  retiredToken = (await create()).token;
  await graphql(rotation, { currentToken: retiredToken });
  if (statistics !== 'of many groups of Customer') await create();
  else {
    const lines = Array.from({ length: 5 * growth }, (_, index) => `{"user_group_id":"customer ${index}"}`);
    await importText(database, lines.join('\n'), { environment: 'Customer' });
  }
  if (statistics !== 'none') await elsewhere(async ({ pool }) => void (await pool.query('vacuum analyze')));
  // PostgreSQL keeps a plan from the sixth time on.
  for (const request of Object.values({ ...lookUps, ...others }))
    for (let time = 0; time < 8; time += 1) await request(await create());
  await elsewhere(grow);
}

async function close(): Promise<void> {
  await gateway.close();
  await single.close();
  await database.close();
}

describe.each(['none', 'of few groups'] as const)('right after a database with the statistics %j has grown', (statistics) => {
  beforeAll(() => serveAndGrow(statistics));
  afterAll(close);

  test.each(Object.entries(lookUps))('%s reads a few pages', async (_, request) => {
    expect(await tablesReadBy(request)).toEqual([]);
  });

  test('the plan of every statement that requests share is kept, although each was sent alone', async () => {
    const planned =
      "select name, custom_plans::int from pg_prepared_statements where name ~ '^[a-z]+(-[a-z]+)+$' and name not like 'stamp-%' and custom_plans > 5";
    expect((await single.pool.query(planned)).rows).toEqual([]);
  });

  if (statistics === 'none') return;
  describe('and once the statistics of the tables that have grown are updated', () => {
    beforeAll(() => elsewhere(async (other) => void (await updateGrownStatistics(other))));

    test.each(Object.entries({ ...lookUps, ...others }))('%s reads a few pages', async (_, request) => {
      expect(await tablesReadBy(request)).toEqual([]);
    });

    test('a count by a condition that no index serves reads the table, not an index of it', async () => {
      const scans = async () => {
        await single.pool.query('select pg_stat_force_next_flush()');
        const { rows } = await single.pool.query(
          "select seq_scan::int as scans from pg_stat_user_tables where relname = 'user_group'",
        );
        return rows[0].scans;
      };
      const before = await scans();
      await graphql('{ userGroups(filter: { properties: [{ path: ["a"], equals: 1 }] }) { totalCount } }');
      expect(await scans()).toBeGreaterThan(before);
    });
  });
});

describe('right after the groups of Testing have grown in a database with many of Customer', () => {
  beforeAll(() => serveAndGrow('of many groups of Customer'));
  afterAll(close);

  test.each(Object.entries({ ...lookUps, ...others }))('%s reads a few pages of them', async (_, request) => {
    expect((await tablesReadBy(request)).filter(([table]) => table === 'user_group')).toEqual([]);
  });
});
