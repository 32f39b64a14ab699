import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { connectDatabase } from '../src/database/client.ts';
import { migrate } from '../src/database/migrate.ts';
import { hashSecret, issueToken } from '../src/tokens.ts';
import { openOnPort } from '../test/support/bundled-server.ts';
import { DataFolder } from '../test/support/data-folder.ts';
import { storedToken } from './encryption.ts';
import { createGroup, type Environment, environments, firstCreatedAtMs, firstTeamId, type Group } from './load/groups.ts';

/** The number of rows per statement. */
const batch = 10_000;

/** The number of API tokens of each environment. */
const credentialsEach = 4;

/** The database of a run: the bundled PostgreSQL with its default settings, with groups and API tokens. */
export interface BenchDatabase {
  readonly url: string;
  /** A folder that is deleted at the end, which PostgreSQL may write to. */
  readonly folder: string;
  /** The first process of PostgreSQL. */
  readonly serverPid: number;
  /** The groups as they must be stored. */
  readonly groups: Group[];
  readonly credentials: Readonly<Record<Environment, readonly string[]>>;
  query<Row extends object>(text: string, values?: unknown[]): Promise<Row[]>;
  close(): Promise<void>;
}

/** Starts PostgreSQL, and seeds a database. */
export async function openDatabase(count: number): Promise<BenchDatabase> {
  const folder = mkdtempSync(join(tmpdir(), 'user-group-gateway-bench-')); // on a disk
  chmodSync(folder, 0o777); // run as root, PostgreSQL runs as another user
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const dataDir = join(folder, 'data');
  const server = await openOnPort(dataDir).catch((error) => {
    remove();
    throw error;
  });
  const url = `${server.url}/postgres`;
  const client = new pg.Client(url);
  const close = async () => {
    await client.end().catch(() => {});
    await server.close();
    remove();
  };
  try {
    const database = connectDatabase({ connectionString: url });
    await migrate(database).finally(() => database.close());
    await client.connect();
    const groups = Array.from({ length: count }, (_, index) => createGroup(index, issueToken('userGroup')));
    await insertGroups(client, groups);
    const credentials = { Customer: [] as string[], Testing: [] as string[] };
    for (const environment of environments)
      while (credentials[environment].length < credentialsEach)
        credentials[environment].push(await insertApiToken(client, environment));
    await client.query('vacuum analyze');
    await client.query('checkpoint');
    return {
      url,
      folder,
      serverPid: new DataFolder(dataDir).postmaster() ?? 0,
      groups,
      credentials,
      query: async <Row extends object>(text: string, values: unknown[] = []) => (await client.query<Row>(text, values)).rows,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function insertGroups(client: pg.Client, groups: readonly Group[]): Promise<void> {
  for (let from = 0; from < groups.length; from += batch) {
    const rows = groups.slice(from, from + batch).map(({ token, ...group }) => ({ ...group, ...storedToken(token) }));
    await client.query(insertStatement, [
      firstTeamId,
      new Date(firstCreatedAtMs),
      rows.map(({ index }) => index),
      rows.map(({ digits }) => digits),
      rows.map(({ environment }) => environment),
      rows.map(({ tokenHash }) => tokenHash),
      rows.map(({ tokenEncrypted }) => tokenEncrypted),
    ]);
  }
  await client.query(`select setval('user_group_team_id_seq', $1)`, [firstTeamId + groups.length]);
}

const insertStatement = `
  insert into user_group (team_id, provided_id, environment_tag, name, token_hash, token_encrypted, properties, mapping, created_at, updated_at)
  select $1 + index, 'group-' || digits, environment, 'Group ' || digits, hash, encrypted,
    format('{"country":"BE","seats":%s}', 10 + index % 90)::json, format('{"sales":"source-%s"}', digits)::json, at, at
  from unnest($3::int[], $4::text[], $5::environment_tag[], $6::bytea[], $7::bytea[]) as given (index, digits, environment, hash, encrypted),
    lateral (select $2::timestamptz + index * interval '1 ms' as at) as times
  order by index`;

async function insertApiToken(client: pg.Client, environment: Environment): Promise<string> {
  const secret = issueToken('apiToken');
  const text = `insert into api_token (name, secret_hash, environment_tag, scopes) values ('bench', $1, $2, '{groups:read,groups:write}')`;
  await client.query(text, [Buffer.from(hashSecret(secret), 'hex'), environment]);
  return secret;
}
