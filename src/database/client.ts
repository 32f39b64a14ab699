import { createHash } from 'node:crypto';
import pg from 'pg';
import { PrismaClient } from '../generated/prisma/client.ts';
import { retryOnConflict } from './errors.ts';
import { SessionlessClient, SessionlessPrismaPg } from './prisma-adapter.ts';
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
   * a deadlock or a serialization failure, and so committed nothing, is retried once.
   *
   * @param name identifies the text: each connection prepares it once.
   */
  query(name: string, text: string, values: readonly unknown[]): Promise<Row[]>;
  /**
   * Runs statements in one transaction and commits it. If `work` or a statement fails, nothing is committed; after a deadlock or
   * a serialization failure `work` is called once more, so it must have no other effects.
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

/** How long to wait for a result: a server that is frozen or unreachable does not end statements itself. */
const queryTimeoutMs = 12_000;

/** How long the server keeps a transaction, with its locks, whose next statement does not come. */
const idleTransactionTimeoutMs = 5_000;

const limitIdleTime = `set local idle_in_transaction_session_timeout = ${idleTransactionTimeoutMs}`;

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

/** Creates the connection pool of a database; connects on first use. Later changes to `connection.port` take effect. */
export function connectDatabase(
  connection: Connection,
  { namedStatements, poolSize = defaultPoolSize }: StatementOptions = { namedStatements: true },
): Database {
  const options: pg.PoolConfig = Object.assign(connection, {
    Client: SessionlessClient,
    max: poolSize,
    connectionTimeoutMillis: connectionTimeoutMs,
    ...(namedStatements && { onConnect: limitStatements }),
    query_timeout: queryTimeoutMs,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    application_name: 'user-group-gateway',
  });
  const pool = new pg.Pool(options);
  // `pg` copies the options; read the port from the original, which changes when the server restarts on another port.
  Object.defineProperty(pool.options, 'port', { get: () => connection.port, enumerable: true });
  // A connection that breaks while idle emits an `error` event, which would end the process. The pool replaces it.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  const createPrisma = (connections: pg.Pool) =>
    new PrismaClient({
      // Longer formats contain the values of the failed statement.
      errorFormat: 'minimal',
      adapter: new SessionlessPrismaPg(
        connections,
        namedStatements ? { statementNameGenerator: ({ sql }) => statementName(sql) as string } : {},
      ),
    });
  const prisma = createPrisma(pool);
  async function run(target: pg.Pool | pg.PoolClient, { name, text, values }: Statement): Promise<Row[]> {
    const statement = { ...textRows, ...(namedStatements && { name }), text, values: values as unknown[] };
    const { rows } = await target.query<(string | null)[]>(statement);
    return rows;
  }

  async function runTransaction<Result>(work: (query: Database['query']) => Promise<Result>): Promise<Result> {
    const client = await pool.connect();
    try {
      await client.query(`begin; ${limitIdleTime}`);
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
    workUnit: (work) =>
      runWorkUnit({ pool, begin: `begin isolation level read committed; ${limitIdleTime}`, run, createPrisma }, work),
    async close() {
      await prisma.$disconnect();
      await pool.end();
    },
  };
}

/**
 * Sets the statement timeout of the session, unless the connection goes through a pooler: there other clients share the
 * session. A pooler reports a process id of its own, not the server's. This is not a startup parameter because poolers reject
 * unknown ones.
 */
async function limitStatements(client: pg.ClientBase): Promise<void> {
  const { processID } = client as pg.ClientBase & { processID: number };
  await client.query(
    `select set_config('statement_timeout', '${statementTimeoutMs}', false) where pg_backend_pid() = ${Number(processID)}`,
  );
}

const statementNames = new Map<string, string>();

/** How many texts of Prisma's get a name: lists have thousands, by their filters, and each connection keeps what it prepared. */
const maxStatementNames = 200;

/** A name for a statement, the same for the same text, so that each connection prepares it once; none when there are too many. */
function statementName(sql: string): string | undefined {
  const known = statementNames.get(sql);
  if (known !== undefined || statementNames.size >= maxStatementNames) return known;
  const name = createHash('sha1').update(sql).digest('base64url');
  statementNames.set(sql, name);
  return name;
}
