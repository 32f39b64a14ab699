import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { type Prisma, PrismaClient } from '../generated/prisma/client.ts';
import { traceStatement } from '../tracing.ts';
import { applicationNames, parseDatabaseUrl } from './database-url.ts';
import { readOnlyServer, retryOnConflict } from './errors.ts';

/** How to connect to a database: the options that `pg` accepts. */
export type Connection = Pick<
  pg.PoolConfig,
  'connectionString' | 'host' | 'port' | 'user' | 'password' | 'database' | 'ssl' | 'options'
>;

/**
 * Runs a statement that Prisma cannot express, or not fast enough, and returns its rows as objects: `bytea` as Uint8Array, times
 * as Date, JSON parsed, `bigint` as BigInt. A result may have no column of the type `void`, and no array of an enum.
 *
 * @param name identifies the text: each connection prepares it once. Without one (`''`), PostgreSQL plans it for its values.
 */
export type Sql = <Row extends object>(name: string, text: string, values: readonly unknown[]) => Promise<Row[]>;

/** The same in a transaction of Prisma's. */
export const sqlIn =
  (transaction: Prisma.TransactionClient): Sql =>
  (_name, text, values) =>
    transaction.$queryRawUnsafe(text, ...values);

/** The time of the database's clock. */
export async function readClock(prisma: Prisma.TransactionClient): Promise<Date> {
  const [row] = await prisma.$queryRaw<{ now: Date }[]>`select now()`;
  if (!row) throw new Error('The database did not respond with its time.');
  return row.now;
}

/** One pool of connections, and Prisma on top of it. */
export interface Database {
  readonly prisma: PrismaClient;
  /** Whether the gateway itself runs the server. */
  readonly isEmbedded: boolean;
  /** The connections, which Prisma uses too. */
  readonly pool: pg.Pool;
  /** The most connections in it. */
  readonly poolSize: number;
  /** Opens a connection outside the pool, for statements that may take any time. It ends when the signal is aborted. */
  openConnection(signal?: AbortSignal): Promise<pg.Client>;
  /** On any connection of the pool. A statement that is rolled back by a conflict is sent once more. */
  readonly sql: Sql;
  /** For what may read a whole table: stopped after two seconds. */
  readonly slowSql: Sql;
  /** Waits for running statements, then closes every connection. */
  close(): Promise<void>;
}

/** How long a statement waits for a connection before it fails. */
const connectionTimeoutMs = 5_000;

/**
 * The settings of a session on a direct connection, as the server takes them when it begins: poolers reject them, so that they
 * never remain in a session that others share. A wait for a lock ends so early that writes behind it can be made before their
 * requests get a 503. A connection keeps its plans, and one that was made for a small table must not read the whole table when it
 * has grown; where that is inevitable, PostgreSQL before version 18 would compile the statement first (`jit`), for 200 ms.
 * Policies that come while it is open make statements fail, and hide no rows (`row_security`).
 */
const directOptions = '-c row_security=off -c statement_timeout=10s -c lock_timeout=4s -c enable_seqscan=off -c jit=off';

/**
 * Has times written in ISO 8601, which the driver reads, and in UTC, which Prisma assumes. PgBouncer keeps both for each of its
 * clients; nothing is set where they are the defaults.
 */
const setTimes = `select set_config(name, value, false) from (values ('datestyle', 'ISO', '^ISO'), ('timezone', 'UTC', '^UTC$'))
  as each (name, value, pattern) where current_setting(name) !~ pattern`;

/** How long a transaction of Prisma's may wait for a connection, and then take. */
const transactionTimeoutMs = 10_000;

/** How long to wait for a result: a server that is frozen or unreachable does not end statements itself. */
const queryTimeoutMs = 12_000;

/** How statements are sent, and over how many connections. */
export interface StatementOptions {
  /** Whether connections prepare statements under names: faster, and impossible behind a pooler in transaction mode. */
  readonly namedStatements: boolean;
  /** The most connections of this process; further statements wait for at most {@link connectionTimeoutMs}. 10 by default. */
  readonly poolSize?: number;
}

/**
 * Creates the connection pool of a database; connects on first use. A server that takes no writes is refused: a standby may still
 * accept a revoked API token.
 *
 * @throws InvalidDatabaseUrl
 */
export function connectDatabase(
  connection: Connection,
  { namedStatements, poolSize = 10 }: StatementOptions = { namedStatements: true },
): Database {
  const pool = new pg.Pool({
    ...clientOptions(connection, namedStatements ? directOptions : ''),
    Client: WritableClient,
    query_timeout: queryTimeoutMs,
    // Statements that do not wait for each other are sent at once. Each still waits for its own result.
    pipeline: true,
    max: poolSize,
    onConnect: async (client: pg.ClientBase) => {
      await client.query(setTimes);
      await requireWritable(client);
    },
    idleTimeoutMillis: 60_000,
    // A session keeps what role and database were set to when it began, such as read-only.
    maxLifetimeSeconds: 600,
  });
  // A connection that breaks while idle emits an `error` event, which would end the process. The pool replaces it.
  pool.on('error', () => {});
  pool.on('connect', (client) => void client.on('error', () => {}));
  pool.on('release', (_error, client) => {
    if (client instanceof WritableClient && client.isReadOnly) void client.end();
  });
  const prisma = new PrismaClient({
    // Longer formats contain the values of the failed statement.
    errorFormat: 'minimal',
    transactionOptions: { maxWait: transactionTimeoutMs, timeout: transactionTimeoutMs },
    adapter: new PrismaPg(pool),
  });
  const sqlOn =
    (target: pg.Pool | pg.PoolClient): Sql =>
    async (name, text, values) => {
      const named = namedStatements && name !== '' && { name };
      return (await target.query({ types, text, values: values as unknown[], ...named })).rows;
    };
  const sqlPool = sqlOn(pool); // which closes a connection after any error

  return {
    prisma,
    isEmbedded: false,
    pool,
    poolSize,
    async openConnection(signal) {
      signal?.throwIfAborted();
      const client = new pg.Client(clientOptions(connection));
      client.on('error', () => {}); // the statement fails, too
      await client.connect();
      signal?.addEventListener('abort', () => void client.end());
      return client;
    },
    sql: (name, ...statement) => traceStatement(name, () => retryOnConflict(() => sqlPool(name, ...statement))),
    async slowSql(...statement) {
      const client = await pool.connect();
      try {
        await client.query("begin read only; set local statement_timeout = '2s'; set local enable_seqscan = on");
        return await sqlOn(client)(...statement);
      } finally {
        await rollBack(client);
      }
    },
    async close() {
      await prisma.$disconnect();
      await pool.end();
    },
  };
}

/** The types of rows: a `bigint` is a BigInt, all else as the driver has it. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (type) => (type === pg.types.builtins.INT8 ? BigInt : pg.types.getTypeParser(type)),
};

/** The options of a connection. @param serverOptions the server's options besides those of the URL. */
function clientOptions({ connectionString, ...connection }: Connection, serverOptions = ''): pg.ClientConfig {
  const common = {
    keepAlive: true,
    keepAliveInitialDelayMillis: 2_000, // the system gives up 10 s later
    connectionTimeoutMillis: connectionTimeoutMs,
    application_name: applicationNames.pool,
  };
  if (connectionString === undefined)
    return { ...connection, ...common, options: `${connection.options ?? ''} ${serverOptions}` };
  const url = parseDatabaseUrl(connectionString);
  if (serverOptions) url.searchParams.set('options', `${url.searchParams.get('options') ?? ''} ${serverOptions}`);
  return { ...common, connectionString: url.href };
}

/** Notes when the server, which became read-only after the connection began, refuses a write: the next may lead to another. */
class WritableClient extends pg.Client {
  isReadOnly = false;

  // biome-ignore lint/suspicious/noExplicitAny: the driver's own declaration has nine overloads; this one only passes on
  override query(...args: any[]): any {
    const result: unknown = super.query(...(args as [string]));
    if (result instanceof Promise)
      result.catch(({ code }) => {
        if (code === readOnlyServer) this.isReadOnly = true;
      });
    return result;
  }
}

/** @throws Error with the SQLSTATE of a read-only server, which counts as an unavailable database. */
async function requireWritable(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ isStandby: boolean; isReadOnly: boolean }>(
    `select pg_is_in_recovery() as "isStandby", current_setting('transaction_read_only') = 'on' as "isReadOnly"`,
  );
  if (!rows[0]?.isReadOnly) return;
  const reason = rows[0].isStandby ? 'is a standby' : 'takes no writes (default_transaction_read_only is on)';
  throw Object.assign(new Error(`the server ${reason}`), { code: readOnlyServer });
}

/**
 * Ends a transaction without its changes and returns the connection. One that may still have the transaction is closed: what
 * others did on it would never be committed.
 */
export async function rollBack(client: pg.PoolClient): Promise<void> {
  const isBroken = await client.query('rollback').then(
    () => false,
    () => true,
  );
  client.release(isBroken);
}

/** One column of the rows that a statement takes as parameters. */
export interface ParameterColumn {
  readonly sql: string;
  /** Its type in PostgreSQL. */
  readonly type: string;
  readonly nullable?: boolean;
}

/**
 * Parameters as a table: `unnest((select $1::text[]), …) as alias (name, …)`, one list per column, as {@link toLists} makes them.
 * PostgreSQL plans for as many rows whatever is sent, and so keeps its plan. Of a list that it sees it knows the length, and
 * would plan a change of one row each time, which takes longer than the change.
 *
 * A look-up joins it with `cross join lateral (select … limit 1)`: where `enable_seqscan` is off, each row is read by the index,
 * whatever the statistics say. Another join that was planned for a small table would read all of it once it has grown.
 */
export function unnest(columns: readonly ParameterColumn[], alias: string): string {
  return `unnest(${lists(columns)}) as ${alias} (${names(columns)})`;
}

/** A list as a parameter of a condition: `column = any ($1)`. Planned for as many rows whatever is sent, as {@link unnest} is. */
export const anyOf = (parameter: number, type: string): string => `any ((select $${parameter}::${type}[])::${type}[])`;

const lists = (columns: readonly ParameterColumn[]): string =>
  columns.map(({ type }, index) => `(select $${index + 1}::${type}[])`).join(', ');

/** The names of columns as a list in SQL. */
export const names = (columns: readonly ParameterColumn[]): string => columns.map(({ sql }) => sql).join(', ');

/** The values of each field, as the parameters of {@link unnest}. */
export function toLists<Item>(fields: readonly (keyof Item)[], items: readonly Item[]): Item[keyof Item][][] {
  return fields.map((field) => items.map((item) => item[field]));
}

/** Bytes in hexadecimal as one parameter of type `bytea[]`, which takes the driver less time than a list of buffers. */
export const toByteaArray = (hexadecimals: readonly string[]): string =>
  `{${hexadecimals.map((hexadecimal) => `"\\\\x${hexadecimal}"`).join(',')}}`;
