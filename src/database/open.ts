import { setTimeout as sleep } from 'node:timers/promises';
import { messagesOf } from '../errors.ts';
import { openBundled, requireCluster } from './bundled.ts';
import { connectDatabase, type Database, type StatementOptions } from './client.ts';
import { describeServer } from './database-url.ts';
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
  if (!databaseUrl) {
    if (mustExist) requireCluster(dataDir);
    const bundled = await openBundled(dataDir, { isServer, signal, onEvent });
    const database = connectDatabase(bundled.connection, statements);
    const close = () => database.close().then(bundled.close);
    return { ...database, isEmbedded: true, close };
  }
  const database = connectDatabase({ connectionString: databaseUrl }, statements);
  try {
    const found = await findWhenReachable(database, statements, describeServer(databaseUrl), { signal, onEvent });
    if (found.refusal) throw new Error(describe(found.refusal));
    if (found.warning) onEvent(describe(found.warning));
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

const describe = ({ found, remedy }: SessionProblem) => `${found}. ${remedy}`;

/**
 * Looks for what is wrong with a database, again while it is not reachable: why it cannot be used, because it cannot store every
 * text or statements of the gateway would use tables of several schemas, and what to warn of.
 */
async function findWhenReachable(
  { pool }: Database,
  { namedStatements }: StatementOptions,
  server: string,
  { signal, onEvent }: Pick<OpenOptions, 'signal' | 'onEvent'>,
) {
  const deadline = Date.now() + startupWaitMs;
  for (let isReported = false; ; isReported = true) {
    try {
      const refusal = await findDatabaseProblem(pool);
      return { refusal, warning: await findSessionProblem(pool, namedStatements) };
    } catch (cause) {
      signal?.throwIfAborted();
      if (!isUnavailable(cause) || Date.now() >= deadline)
        throw new Error(`Cannot connect to the database at ${server}: ${messagesOf(cause).join(', ')}. ${remedyFor(cause)}`, {
          cause,
        });
      if (!isReported) onEvent(`waiting for the database at ${server}`);
      await sleep(250);
    }
  }
}

/** What to do about a failed connection. */
function remedyFor(error: unknown): string {
  if (isRejectedByPooler(error)) return 'If this is a connection pooler, set DB_NAMED_STATEMENTS=false.';
  if ((error as { code?: string }).code === readOnlyServer)
    return 'Set DATABASE_URL to a server that takes writes, or to an endpoint that leads to it.';
  return 'Check DATABASE_URL.';
}
