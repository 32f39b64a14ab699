import { createHash } from 'node:crypto';
import pg from 'pg';
import { PrismaClient } from '../generated/prisma/client.ts';
import { repeatOnConflict } from './errors.ts';
import { SessionlessClient, SessionlessPrismaPg } from './prisma-adapter.ts';
import { type Row, textRows } from './text-rows.ts';

/** How to reach a database: the parts that `pg` takes. */
export type Connection = Pick<
  pg.PoolConfig,
  'connectionString' | 'host' | 'port' | 'user' | 'password' | 'database' | 'ssl' | 'options'
>;

/** One pool of connections, and Prisma on top of it. */
export interface Database {
  readonly prisma: PrismaClient;
  /** The connections, which Prisma uses too. */
  readonly pool: pg.Pool;
  /**
   * Runs a statement that Prisma cannot state, or not fast enough, and returns its rows as text. One that failed by a
   * deadlock or a serialization failure, and so committed nothing, is repeated once.
   *
   * @param name the same for the same text, and for no other: each connection prepares it once.
   */
  query(name: string, text: string, values: readonly unknown[]): Promise<Row[]>;
  /** Waits for running statements, then closes every connection. */
  close(): Promise<void>;
}

/** How many connections one process may hold. Statements beyond that wait {@link connectionTimeoutMs} at most. */
const maxConnections = 10;

/** How long a statement waits for a connection before it fails. */
const connectionTimeoutMs = 5_000;

/** How long the server lets a statement run, on a direct connection. */
const statementTimeoutMs = 10_000;

/** How long an answer is waited for: a server that is frozen, or behind a dead network, does not end statements itself. */
const answerTimeoutMs = 12_000;

/** How statements are sent. */
export interface StatementOptions {
  /** Whether connections prepare statements under names: faster, and impossible behind a pooler in transaction mode. */
  readonly namedStatements: boolean;
}

/** Prepares the connection to a database; connects when first used. The object is kept: a change of its port is followed. */
export function connectDatabase(
  connection: Connection,
  { namedStatements }: StatementOptions = { namedStatements: true },
): Database {
  const options: pg.PoolConfig = Object.assign(connection, {
    Client: SessionlessClient,
    max: maxConnections,
    connectionTimeoutMillis: connectionTimeoutMs,
    ...(namedStatements && { onConnect: limitStatements }),
    query_timeout: answerTimeoutMs,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    application_name: 'user-group-gateway',
  });
  const pool = new pg.Pool(options);
  // `pg` copies the options: hand the original's port on, so that a server that moved is found again.
  Object.defineProperty(pool.options, 'port', { get: () => connection.port, enumerable: true });
  // A connection that breaks while nobody uses it raises an event that would end the process. The pool replaces it.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  const prisma = new PrismaClient({
    // Longer forms print the values of the statement that failed.
    errorFormat: 'minimal',
    adapter: new SessionlessPrismaPg(
      pool,
      namedStatements ? { statementNameGenerator: ({ sql }) => statementName(sql) as string } : {},
    ),
  });
  return {
    prisma,
    pool,
    query: (name, text, values) =>
      repeatOnConflict(async () => {
        const statement = { ...textRows, ...(namedStatements && { name }), text, values: values as unknown[] };
        const { rows } = await pool.query<(string | null)[]>(statement);
        return rows;
      }),
    async close() {
      await prisma.$disconnect();
      await pool.end();
    },
  };
}

/**
 * Sets the server's own limit on statements for the session, unless a pooler is in between: there the session is shared, and
 * the setting would reach other clients. A pooler answers the connection with a process number of its own, not the server's.
 * Not a start-up parameter, because poolers refuse those that they do not know.
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
