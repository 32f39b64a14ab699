import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { messagesOf } from '../errors.ts';
import { type Connection, connectDatabase, type Database, type StatementOptions } from './client.ts';
import { describeServer, parseDatabaseUrl } from './database-url.ts';
import { requireCluster } from './embedded/cluster.ts';
import { openEmbedded } from './embedded/embedded.ts';
import { isRejectedByPooler, isUnavailable, readOnlyServer } from './errors.ts';
import { findEncodingProblem, findSchemaProblem, type SessionProblem } from './server-state.ts';
import { findSessionProblem } from './session-settings.ts';

/** The name of the gateway's database in the embedded PostgreSQL. */
export const embeddedDatabase = 'user_group_gateway';

/** How long to wait at startup for a database server that is not reachable yet. */
const startupWaitMs = 10_000;

/** Which database to open. */
export interface OpenOptions extends StatementOptions {
  readonly databaseUrl: string | undefined;
  readonly dataDir: string;
  /** Whether nothing is created. */
  readonly mustExist?: boolean;
  /** Ends the wait for the server. */
  readonly signal?: AbortSignal | undefined;
  /** Receives messages for the operator. */
  readonly onEvent: (message: string) => void;
}

/**
 * Opens the gateway's database: the one at `databaseUrl`, or else the embedded one, which is created and started if necessary.
 * Closing it also releases the embedded server.
 *
 * @throws Error with a message for the operator.
 * @throws the reason of the signal, if it is aborted before the server is reached.
 */
export async function openDatabase({
  databaseUrl,
  dataDir,
  mustExist = false,
  signal,
  onEvent,
  ...statements
}: OpenOptions): Promise<Database> {
  if (databaseUrl) {
    const database = connectDatabase({ connectionString: databaseUrl }, statements);
    const check = () => findProblems(database.pool, statements.namedStatements);
    const { refusal, warning } = await checkWhenReachable(check, database, databaseUrl, { signal, onEvent });
    if (refusal) {
      await database.close();
      throw new Error(describe(refusal));
    }
    if (warning) onEvent(describe(warning));
    return database;
  }
  if (mustExist) requireCluster(dataDir);
  const embedded = await openEmbedded(dataDir, { signal, onEvent });
  try {
    await createDatabase(embedded.connection('postgres'), embeddedDatabase, mustExist);
  } catch (cause) {
    await embedded.close();
    signal?.throwIfAborted();
    const text = `The database in ${resolve(dataDir)} cannot be created or reached: ${messagesOf(cause).join(', ')}. Run the command doctor.`;
    throw new Error(text, { cause });
  }
  const database = connectDatabase(embedded.connection(embeddedDatabase), statements);
  return {
    ...database,
    isEmbedded: true,
    async close() {
      await database.close();
      await embedded.close();
    },
  };
}

/**
 * Creates a database if it does not exist. Of several processes that try concurrently, one creates it.
 *
 * @throws Error also when it does not exist and must.
 */
async function createDatabase(connection: Connection, name: string, mustExist: boolean): Promise<void> {
  const client = new pg.Client(connection);
  client.on('error', () => {}); // the statement fails, too
  await client.connect();
  try {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [name]);
    if (rowCount === 0 && mustExist) throw new Error('the first start did not get as far as creating it');
    if (rowCount === 0) await client.query(`create database ${client.escapeIdentifier(name)}`);
  } catch (error) {
    const { code } = error as { code?: string };
    if (code !== '42P04' && code !== '23505') throw error; // otherwise another process created it first
  } finally {
    await client.end();
  }
}

/**
 * Looks for what is wrong with a database: why it cannot be used, because it cannot store every text or statements of the gateway
 * would use tables of several schemas, and what to warn of.
 */
async function findProblems(pool: pg.Pool, namedStatements: boolean) {
  const refusal = (await findEncodingProblem(pool)) ?? (await findSchemaProblem(pool));
  return { refusal, warning: await findSessionProblem(pool, namedStatements) };
}

const describe = ({ found, remedy }: SessionProblem) => `${found}. ${remedy}`;

/** Checks a database, again while it is not reachable. */
async function checkWhenReachable<Result>(
  check: () => Promise<Result>,
  database: Database,
  databaseUrl: string,
  { signal, onEvent }: Pick<OpenOptions, 'signal' | 'onEvent'>,
): Promise<Result> {
  const deadline = Date.now() + startupWaitMs;
  for (let isReported = false; ; isReported = true) {
    try {
      return await check();
    } catch (cause) {
      if (isUnavailable(cause) && Date.now() < deadline && !signal?.aborted) {
        if (!isReported) onEvent(`waiting for the database at ${describeServer(databaseUrl)}`);
        await sleep(250);
        continue;
      }
      await database.close();
      signal?.throwIfAborted();
      const reason = `Cannot connect to the database at ${describeServer(databaseUrl)}: ${messagesOf(cause).join(', ')}.`;
      throw new Error(`${reason} ${remedyFor(cause, databaseUrl)}`, { cause });
    }
  }
}

/** What to do about a failed connection. */
function remedyFor(error: unknown, databaseUrl: string): string {
  const { code } = error as { code?: string };
  if (isRejectedByPooler(error)) return 'If this is a connection pooler, set DB_NAMED_STATEMENTS=false.';
  if (code === readOnlyServer) return 'Set DATABASE_URL to a server that takes writes, or to an endpoint that leads to it.';
  if (code !== '42501') return 'Check DATABASE_URL.';
  const { pathname, username } = parseDatabaseUrl(databaseUrl);
  const [database, role] = [pathname.slice(1), username].map((part) => pg.escapeIdentifier(decodeURIComponent(part)));
  return `As the owner of the database or a superuser, run:\n\n  grant connect on database ${database} to ${role};`;
}
