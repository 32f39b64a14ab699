import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { type Connection, connectDatabase } from '../src/database/client.ts';
import { migrate } from '../src/database/migrate.ts';
import { hashSecret, issueToken } from '../src/tokens.ts';
import { openOnPort } from '../test/support/bundled-server.ts';
import { storedToken, type TokenColumns, tokenOf } from './encryption.ts';
import { parentOf } from './load/process-usage.ts';
import type { Credential } from './load/protocol.ts';
import { environments, firstCreatedAtMs, firstTeamId } from './load/rows.ts';

/** The number of rows per statement. */
const batch = 10_000;

/** The number of API tokens of each environment. */
const credentialsEach = 4;

/** A database with its groups and API tokens. */
export interface BenchDatabase {
  readonly name: string;
  readonly url: string;
  /** The file with the concatenated tokens of the groups, as seeded. */
  readonly tokenFile: string;
  readonly groups: number;
  /** PostgreSQL's main process, if it can be determined. */
  readonly serverPid: number | undefined;
  readonly credentials: readonly Credential[];
  /** API tokens that must be rejected: revoked, expired, without any scope for groups. */
  readonly invalidCredentials: Readonly<Record<string, string>>;
  /** Inserts groups until there are so many, without new statistics, and writes the token file anew. */
  grow(groups: number): Promise<void>;
  /** Queries the database. */
  query<Row extends object>(text: string, values?: unknown[]): Promise<Row[]>;
  /** Removes it, once no gateway uses it. */
  drop(): Promise<void>;
}

/** The PostgreSQL of a run: the bundled one with its default settings, in a folder that is deleted when the run ends. */
export interface BenchServer {
  readonly folder: string;
  readonly dataDir: string;
  seed(name: string, groups: number): Promise<BenchDatabase>;
  /** Stops the server unless a gateway uses it, and keeps its files. */
  stop(): Promise<void>;
  close(): Promise<void>;
}

/** Starts the run's PostgreSQL. */
export async function startServer(): Promise<BenchServer> {
  const folder = mkdtempSync(join(tmpdir(), 'user-group-gateway-bench-'));
  // Run as root, PostgreSQL runs as another user, which needs access; otherwise its files would be in another folder and remain.
  chmodSync(folder, 0o755);
  const dataDir = join(folder, 'data');
  const server = await openOnPort(dataDir).catch((error) => {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  });
  const clients: pg.Client[] = [];
  let stopped: Promise<void> | undefined;
  const release = async () => {
    await Promise.all(clients.map((client) => client.end().catch(() => {})));
    await server.close();
  };
  const stop = () => (stopped ??= release());
  return {
    folder,
    dataDir,
    stop,
    async seed(name, groups) {
      const isOwn = name !== 'postgres'; // where a gateway on the folder has its tables
      if (isOwn) await withClient(server.connection, (client) => client.query(`create database ${name}`));
      const connection = { ...server.connection, database: name };
      const client = new pg.Client(connection);
      await client.connect();
      clients.push(client);
      const drop = async () => {
        await client.end();
        if (isOwn) await withClient(server.connection, (other) => other.query(`drop database ${name}`));
      };
      return { ...(await seed(client, connection, { name, groups, folder })), url: `${server.url}/${name}`, drop };
    },
    async close() {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function withClient(connection: Connection, work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client(connection);
  await client.connect();
  await work(client).finally(() => client.end());
}

async function seed(
  client: pg.Client,
  connection: Connection,
  { name, groups, folder }: { name: string; groups: number; folder: string },
): Promise<Omit<BenchDatabase, 'drop' | 'url'>> {
  const own = connectDatabase({ ...connection });
  await migrate(own).finally(() => own.close());

  const tokens = await insertGroups(client, 0, groups);

  const insert = async (
    label: string,
    environment: string,
    scopes: string[],
    ended: { expired?: boolean; revoked?: boolean },
  ) => {
    const secret = issueToken('apiToken');
    const hour = new Date(Date.now() - 3_600_000);
    const values = [
      label,
      Buffer.from(hashSecret(secret), 'hex'),
      environment,
      scopes,
      ended.expired ? hour : null,
      ended.revoked ? hour : null,
    ];
    await client.query(insertApiToken, values);
    return secret;
  };
  const scopes = ['groups:read', 'groups:write'];
  const credentials: Credential[] = [];
  for (const environment of environments) {
    for (let i = 0; i < credentialsEach; i += 1) {
      credentials.push({ environment, secret: await insert(`caller ${i}`, environment, scopes, {}) });
    }
  }
  const invalidCredentials = {
    revoked: await insert('revoked', 'Customer', scopes, { revoked: true }),
    expired: await insert('expired', 'Customer', scopes, { expired: true }),
    'without a scope': await insert('no scope', 'Customer', ['metrics:read'], {}),
    unknown: issueToken('apiToken'),
  };
  await client.query('vacuum analyze');
  await client.query('checkpoint');

  mkdirSync(folder, { recursive: true });
  const tokenFile = join(folder, `${name}.tokens`);
  writeFileSync(tokenFile, tokens.join(''), 'latin1');
  const grow = async (count: number) => {
    const { rows } = await client.query<TokenColumns>('select token_hash, token_encrypted from user_group order by team_id');
    const added = await insertGroups(client, rows.length, count);
    writeFileSync(tokenFile, [...rows.map(tokenOf), ...added].join(''), 'latin1');
  };
  const query = async <Row extends object>(text: string, values: unknown[] = []) => (await client.query<Row>(text, values)).rows;
  const [backend] = await query<{ pid: number }>('select pg_backend_pid() as pid');
  const serverPid = backend && parentOf(backend.pid);
  return { name, tokenFile, groups, serverPid, credentials, invalidCredentials, grow, query };
}

/** Inserts the groups with the indexes from `from` to below `to`. @returns their tokens. */
async function insertGroups(client: pg.Client, from: number, to: number): Promise<string[]> {
  const tokens = Array.from({ length: to - from }, () => issueToken('userGroup'));
  for (let begin = 0; begin < tokens.length; begin += batch) {
    const stored = tokens.slice(begin, begin + batch).map(storedToken);
    const columns = [stored.map(({ tokenHash }) => tokenHash), stored.map(({ tokenEncrypted }) => tokenEncrypted)];
    await client.query(insertStatement, [...columns, from + begin, firstTeamId, new Date(firstCreatedAtMs)]);
  }
  await client.query(`select setval('user_group_team_id_seq', $1)`, [firstTeamId + to]);
  return tokens;
}

/** The same group as `rowOf` in load/rows.ts, in SQL. */
const insertStatement = `
  insert into user_group (team_id, provided_id, environment_tag, name, token_hash, token_encrypted, properties, mapping, created_at, updated_at)
  select $4 + i, 'group-' || digits, (case i % 2 when 0 then 'Customer' else 'Testing' end)::environment_tag, 'Group ' || digits,
    hash, encrypted, format('{"country":"BE","seats":%s}', 10 + i % 90)::json, format('{"sales":"source-%s"}', digits)::json,
    created_at, created_at
  from (
    select hash, encrypted, $3::int + k::int - 1 as i, lpad(($3::int + k)::text, 7, '0') as digits,
      $5::timestamptz + ($3::int + k - 1) * interval '1 ms' as created_at
    from unnest($1::bytea[], $2::bytea[]) with ordinality as given (hash, encrypted, k)
  ) as numbered order by i`;

const insertApiToken = `
  insert into api_token (name, secret_hash, environment_tag, scopes, expires_at, revoked_at) values ($1, $2, $3, $4, $5, $6)`;
