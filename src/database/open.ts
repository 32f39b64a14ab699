import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { messagesOf } from '../errors.ts';
import { openBundled, requireCluster } from './bundled.ts';
import { connectDatabase, type Database, type StatementOptions } from './client.ts';
import { describeServer, parseDatabaseUrl } from './database-url.ts';
import { isRejectedByPooler, isUnavailable, readOnlyServer } from './errors.ts';
import { findDatabaseProblem, type SessionProblem } from './server-state.ts';
import { findSessionProblem } from './session-settings.ts';

/** How long to wait at startup for a database server that is not reachable yet. */
const startupWaitMs = 10_000;

/** Which database to open. */
export interface OpenOptions extends StatementOptions {
  readonly databaseUrl: string | undefined;
  readonly dataDir: string;
  /** Whether nothing is created. */
  readonly mustExist?: boolean;
  /** Whether this is `serve`, to which a `DATA_DIR` belongs. */
  readonly isServer?: boolean;
  /** Ends the wait for the server. */
  readonly signal?: AbortSignal | undefined;
  /** Receives messages for the operator. */
  readonly onEvent: (message: string) => void;
}

/**
 * Opens the gateway's database: the one at `databaseUrl`, or else the bundled one, which is created and started if necessary.
 * Closing it also stops the bundled PostgreSQL, unless another process uses it.
 *
 * @throws Error with a message for the operator.
 * @throws the reason of the signal, if it is aborted before the server is reached.
 */
export async function openDatabase({
  databaseUrl,
  dataDir,
  mustExist = false,
  isServer = false,
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
  const bundled = await openBundled(dataDir, { isServer, signal, onEvent });
  const database = connectDatabase(bundled.connection, statements);
  return {
    ...database,
    isEmbedded: true,
    async close() {
      await database.close();
      await bundled.close();
    },
  };
}

/**
 * Looks for what is wrong with a database: why it cannot be used, because it cannot store every text or statements of the gateway
 * would use tables of several schemas, and what to warn of.
 */
async function findProblems(pool: pg.Pool, namedStatements: boolean) {
  return { refusal: await findDatabaseProblem(pool), warning: await findSessionProblem(pool, namedStatements) };
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
