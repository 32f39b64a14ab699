import pg from 'pg';
import { PrismaClient } from '../generated/prisma/client.ts';
import { applicationNames } from './application-names.ts';
import { parseDatabaseUrl, type TargetSession } from './database-url.ts';
import { retryOnConflict } from './errors.ts';
import { failoverClient } from './failover-client.ts';
import { createPrimaryFinder } from './primary-finder.ts';
import { SessionlessClient, SessionlessPrismaPg } from './prisma-adapter.ts';
import { readOnlyState, requireRole } from './server-role.ts';
import { createStatementNames } from './statement-names.ts';
import { type Row, textRows } from './text-rows.ts';
import { runWorkUnit, type WorkUnit } from './work-unit.ts';

/** How to connect to a database: the options that `pg` accepts. */
export type Connection = Pick<
  pg.PoolConfig,
  'connectionString' | 'host' | 'port' | 'user' | 'password' | 'database' | 'ssl' | 'options'
>;

/** One pool of connections, and Prisma on top of it. */
export interface Database {
  readonly prisma: PrismaClient;
  /** Whether the gateway itself runs the server. */
  readonly isEmbedded: boolean;
  /** The connections, which Prisma uses too. */
  readonly pool: pg.Pool;
  /**
   * Runs a statement that Prisma cannot express, or not fast enough, and returns its rows as text. A statement that fails with
   * a deadlock or a serialization failure, or because it must be prepared again, and so committed nothing, is retried once.
   *
   * @param name identifies the text: each connection prepares it once.
   */
  query(name: string, text: string, values: readonly unknown[]): Promise<Row[]>;
  /**
   * Runs statements in one transaction and commits it. If `work` or a statement fails, nothing is committed; where
   * {@link query} retries, `work` is called again, so it must have no other side effects.
   *
   * @param work takes {@link query} for the statements of the transaction, which must not be used afterwards.
   */
  transaction<Result>(work: (query: Database['query']) => Promise<Result>): Promise<Result>;
  /**
   * Runs work of any kind, Prisma's too, in one transaction (READ COMMITTED) and commits it; if `work` throws, nothing is
   * committed. A statement in it that fails undoes only itself. Slower than {@link transaction}: each statement has a savepoint.
   *
   * @param work takes what it uses instead of this database, and which fails once `work` is over.
   */
  workUnit<Result>(work: (unit: WorkUnit) => Promise<Result>): Promise<Result>;
  /** Waits for running statements, then closes every connection. */
  close(): Promise<void>;
}

/** The size of a pool whose size is not specified. */
const defaultPoolSize = 10;

/** How long a statement waits for a connection before it fails. */
const connectionTimeoutMs = 5_000;

/** The statement timeout of the server, on a direct connection. */
const statementTimeoutMs = 10_000;

/**
 * The settings of a session on a direct connection. A connection keeps the plans of its statements, and one that was made for a
 * small table must not read the whole table when it has grown. Where nothing else is possible, a table is read nevertheless: at
 * such an estimated cost that PostgreSQL before version 18 would compile the statement first (`jit`), which takes 200 ms.
 */
const directSettings = { statement_timeout: statementTimeoutMs, enable_seqscan: 'off', jit: 'off' };

/** How long a connection is quiet before the system checks that the other end is there; it gives up 10 s later. */
const keepAliveDelayMs = 2_000;

/** How long to wait for a result: a server that is frozen or unreachable does not end statements itself. */
const queryTimeoutMs = 12_000;

/** How long the server keeps a transaction, with its locks, whose next statement does not come. */
const idleTransactionTimeoutMs = 5_000;

const begin = `begin isolation level read committed; set local idle_in_transaction_session_timeout = ${idleTransactionTimeoutMs}`;

/** A statement as {@link Database.query} takes it. */
interface Statement {
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
}

/** How statements are sent, and over how many connections. */
export interface StatementOptions {
  /** Whether connections prepare statements under names: faster, and impossible behind a pooler in transaction mode. */
  readonly namedStatements: boolean;
  /** The most connections of this process; further statements wait for at most {@link connectionTimeoutMs}. 10 by default. */
  readonly poolSize?: number;
}

/**
 * Creates the connection pool of a database; connects on first use. Later changes to `connection.port` take effect. If the URL
 * has several hosts, connections lead to the one that takes writes, and move when another one does.
 *
 * @throws InvalidDatabaseUrl
 */
export function connectDatabase(
  connection: Connection,
  { namedStatements, poolSize = defaultPoolSize }: StatementOptions = { namedStatements: true },
): Database {
  const url = connection.connectionString === undefined ? undefined : parseDatabaseUrl(connection.connectionString);
  const finder = url && url.serverUrls.length > 1 ? createPrimaryFinder(url) : undefined;
  const options: pg.PoolConfig = Object.assign(connection, {
    ...(finder ? { Client: failoverClient(finder), stream: finder.openSocket } : { Client: SessionlessClient }),
    ...(url && { connectionString: url.serverUrls[0] as string }),
    max: poolSize,
    connectionTimeoutMillis: connectionTimeoutMs,
    onConnect: async (client: pg.ClientBase) => {
      try {
        await prepareSession(client as SessionlessClient, url?.target, namedStatements);
      } catch (error) {
        finder?.failed(client as pg.Client, error);
        throw error;
      }
    },
    query_timeout: queryTimeoutMs,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveDelayMs,
    application_name: applicationNames.pool,
  });
  const names = createStatementNames();
  const pool = new pg.Pool(options);
  // `pg` copies the options; read the port from the original, which changes when the server restarts on another port.
  Object.defineProperty(pool.options, 'port', { get: () => connection.port, enumerable: true });
  // A connection that breaks while idle emits an `error` event, which would end the process. The pool replaces it.
  pool.on('error', () => {});
  pool.on('connect', (client) => {
    client.on('error', () => {});
    closeOnceReadOnly(client as pg.PoolClient & pg.Client);
    names.follow(client as pg.PoolClient & pg.Client);
  });
  const createPrisma = (connections: pg.Pool) =>
    new PrismaClient({
      // Longer formats contain the values of the failed statement.
      errorFormat: 'minimal',
      adapter: new SessionlessPrismaPg(
        connections,
        namedStatements ? { statementNameGenerator: ({ sql }) => names.ofText(sql) as string } : {},
      ),
    });
  const prisma = createPrisma(pool);
  async function run(target: pg.Pool | pg.PoolClient, { name, text, values }: Statement): Promise<Row[]> {
    const statement = { ...textRows, ...(namedStatements && { name: names.of(name) }), text, values: values as unknown[] };
    const { rows } = await target.query<(string | null)[]>(statement);
    return rows;
  }

  async function runTransaction<Result>(work: (query: Database['query']) => Promise<Result>): Promise<Result> {
    const client = await pool.connect();
    try {
      await client.query(begin);
      const result = await work((name, text, values) => run(client, { name, text, values }));
      await client.query('commit');
      client.release();
      return result;
    } catch (error) {
      // Closes the connection, which may still be busy with a statement; the server rolls back.
      client.release(true);
      throw error;
    }
  }

  return {
    prisma,
    isEmbedded: false,
    pool,
    query: (name, text, values) => retryOnConflict(() => run(pool, { name, text, values })),
    transaction: (work) => retryOnConflict(() => runTransaction(work)),
    workUnit: (work) => runWorkUnit({ pool, begin, run, createPrisma }, work),
    async close() {
      await prisma.$disconnect();
      await pool.end();
      finder?.close();
    },
  };
}

/** What each new connection needs before it is used, in one statement or none. */
async function prepareSession(client: SessionlessClient, target: TargetSession | undefined, isLimited: boolean): Promise<void> {
  if (target) await requireRole(client, target, isLimited ? `, ${sessionSettings(client)}` : '');
  else if (isLimited) await client.query(`select ${sessionSettings(client)}`);
}

/** Closes a connection whose server became read-only, also after a transaction of Prisma, which would keep it in the pool. */
function closeOnceReadOnly(client: pg.Client): void {
  client.connection.on('errorMessage', ({ code }: { code?: string }) => {
    // Later, so that the statement fails with the server's error.
    if (code === readOnlyState) setImmediate(() => void client.end().catch(() => {}));
  });
}

/**
 * An expression that sets up the session, unless the connection goes through a pooler: there other clients share the session, and
 * every statement is planned for its values. A pooler reports a process id of its own, not the server's. These are not startup
 * parameters because poolers reject unknown ones.
 */
function sessionSettings(client: SessionlessClient): string {
  const { processID } = client as SessionlessClient & { processID: number };
  const settings = Object.entries(directSettings).map(([name, value]) => `set_config('${name}', '${value}', false)`);
  return `case when pg_backend_pid() = ${Number(processID)} then concat(${settings.join(', ')}) end`;
}
