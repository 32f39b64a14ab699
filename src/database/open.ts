import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { type Connection, connectDatabase, type Database, type StatementOptions } from './client.ts';
import { openEmbedded } from './embedded/embedded.ts';
import { isUnavailable } from './errors.ts';

/** The name of the gateway's database in the embedded PostgreSQL. */
const embeddedDatabase = 'user_group_gateway';

/** How long a start waits for a database server that is not up yet. */
const patienceMs = 10_000;

/** Which database to open. */
export interface OpenOptions extends StatementOptions {
  readonly databaseUrl: string | undefined;
  readonly dataDir: string;
  /** Hears what an operator should know. */
  readonly onEvent: (message: string) => void;
}

/**
 * Opens the gateway's database: the one at the URL, or without one the embedded, which is made and started if need be.
 * Closing it lets go of the embedded server too.
 *
 * @throws Error with a text for the operator.
 */
export async function openDatabase({ databaseUrl, dataDir, onEvent, namedStatements }: OpenOptions): Promise<Database> {
  if (databaseUrl) {
    const database = connectDatabase({ connectionString: databaseUrl }, { namedStatements });
    await waitUntilReachable(database, databaseUrl, onEvent);
    return database;
  }
  const embedded = await openEmbedded(dataDir, { onEvent });
  try {
    await createDatabase(embedded.connection('postgres'), embeddedDatabase);
  } catch (error) {
    await embedded.close();
    throw error;
  }
  const database = connectDatabase(embedded.connection(embeddedDatabase), { namedStatements });
  return {
    ...database,
    async close() {
      await database.close();
      await embedded.close();
    },
  };
}

/** Creates a database if there is none of that name. Of several processes that try at once, one does. */
async function createDatabase(connection: Connection, name: string): Promise<void> {
  const client = new pg.Client(connection);
  await client.connect();
  try {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [name]);
    if (rowCount === 0) await client.query(`create database ${client.escapeIdentifier(name)}`);
  } catch (error) {
    const { code } = error as { code?: string };
    if (code !== '42P04' && code !== '23505') throw error; // it exists by now
  } finally {
    await client.end();
  }
}

async function waitUntilReachable(database: Database, databaseUrl: string, onEvent: OpenOptions['onEvent']): Promise<void> {
  const deadline = Date.now() + patienceMs;
  for (let told = false; ; told = true) {
    try {
      await database.pool.query('select');
      return;
    } catch (cause) {
      if (isUnavailable(cause) && Date.now() < deadline) {
        if (!told) onEvent(`waiting for the database at ${withoutSecrets(databaseUrl)}`);
        await sleep(250);
        continue;
      }
      await database.close();
      const reason = `Cannot connect to the database at ${withoutSecrets(databaseUrl)}: ${reasonOf(cause)}.`;
      throw new Error(`${reason} ${adviceFor(cause, databaseUrl)}`, { cause });
    }
  }
}

/** What to do about a refused connection. */
function adviceFor(error: unknown, databaseUrl: string): string {
  if ((error as { code?: string }).code !== '42501') return 'Check DATABASE_URL.';
  const { pathname, username } = new URL(databaseUrl);
  const [database, role] = [pathname.slice(1), username].map((part) => pg.escapeIdentifier(decodeURIComponent(part)));
  return `As the owner of the database or a superuser, run:\n\n  grant connect on database ${database} to ${role};`;
}

/** What went wrong; a refused connection to a name with several addresses has its text in the parts only. */
function reasonOf(error: unknown): string {
  const { message, errors } = error as AggregateError;
  return message || (errors ?? []).map((part) => (part as Error).message).join(', ');
}

function withoutSecrets(databaseUrl: string): string {
  const { host, pathname } = new URL(databaseUrl);
  return `${host}${pathname}`;
}
