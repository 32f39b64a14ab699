import { userInfo } from 'node:os';
import { resolve } from 'node:path';
import type { Logger } from 'pino';
import { type Context, contextOf, createApp } from '../app.ts';
import { type Author, commandAuthor } from '../audit-log/statements/author.ts';
import { Caller } from '../caller.ts';
import { creationRemedy } from '../database/bundled.ts';
import type { Database } from '../database/client.ts';
import { describeServer } from '../database/database-url.ts';
import { isUnavailable } from '../database/errors.ts';
import { migrate, readMigrationState, requireMigrated } from '../database/migrate.ts';
import { openDatabase } from '../database/open.ts';
import { requirePrivileges } from '../database/privileges.ts';
import type { KeyRing } from '../encryption/keys.ts';
import { logOutages, openLog } from '../log.ts';
import { type Config, readConfig } from '../settings.ts';
import { escapeControls } from '../terminal-text.ts';
import { openKeys } from './key-file.ts';
import { exitCodeOf, Stopped, untilStopSignal } from './stop-signals.ts';

/** What a command that uses the database receives. */
export interface CommandContext {
  readonly config: Config;
  readonly log: Logger;
  readonly database: Database;
  readonly keys: KeyRing;
  /** Is aborted when the process is asked to stop. What takes longer than a few statements then ends. */
  readonly stop: AbortSignal;
}

/** What a command does with the database: it may make a new one, changes one that exists, or reads one. */
export type Access = 'create' | 'change' | 'read';

/** Who the audit log names for the changes of a command: the user of the operating system who runs it. */
export function ownAuthor(): Author {
  try {
    return commandAuthor(userInfo().username);
  } catch {
    return commandAuthor(`user ${process.getuid?.() ?? 'unknown'}`); // one without a name, as in many containers
  }
}

/** The context of a command: it may do everything. */
export const ownContext = ({ config, database, keys }: CommandContext): Context =>
  contextOf(createApp(database, keys, { webhookNetworks: config.webhooksAllowedNetworks ?? [] }), Caller.trusted(ownAuthor()));

/** Runs the work of a command on the database. A signal to stop does not end the work, but sets the exit status. */
export async function withDatabase(access: Access, work: (context: CommandContext) => Promise<void>): Promise<void> {
  const config = readConfig(process.env, process.stderr.isTTY);
  // Where somebody tried the gateway once, a command without settings would use what is left of it.
  if (!config.databaseUrl && config.dataDir === '.data')
    process.stderr.write(
      `DATABASE_URL is not set, and DATA_DIR is ${config.dataDir}: using the database in ${escapeControls(resolve(config.dataDir))}.\n`,
    );
  const stop = untilStopSignal();
  await openAndRun(config, access, stop, work);
  if (stop.reason instanceof Stopped) process.exitCode = exitCodeOf(stop.reason.by);
}

/**
 * Opens the database, brings it up to date, runs the work, and closes the database.
 *
 * @throws Error with a message for the operator.
 */
export async function openAndRun(
  config: Config,
  access: Access,
  stop: AbortSignal,
  work: (context: CommandContext) => Promise<void>,
  isServer = false,
): Promise<void> {
  const log = openLog(config, process.stderr);
  const onEvent = (message: string) => log.warn(message);
  const database = await openDatabase({ ...config, mustExist: access !== 'create', isServer, signal: stop, onEvent });
  try {
    stop.throwIfAborted();
    if (access !== 'create') await requireTables(config, database);
    if (access === 'read') await requireMigrated(database, { onEvent });
    else {
      const applied = await migrate(database, { signal: stop, onEvent });
      if (applied.length > 0) log.info({ applied }, 'applied migrations');
    }
    await requirePrivileges(database);
    const lost = 'the file of the encryption keys cannot be read; the keys that were read before stay in use';
    const keys = await openKeys(config, database, logOutages(log, lost, 'the file of the encryption keys can be read again'));
    stop.throwIfAborted();
    await work({ config, log, database, keys, stop });
  } catch (cause) {
    if (!isUnavailable(cause)) throw cause;
    const uncertain = access === 'read' ? '' : '. A change that was in progress may have been made.';
    throw new Error(`The database is unavailable: ${(cause as Error).message}${uncertain}`, { cause });
  } finally {
    await database.close();
  }
}

/** @throws Error when no gateway has ever used the database. */
async function requireTables({ databaseUrl, dataDir }: Config, database: Database): Promise<void> {
  const { applied, unknown } = await readMigrationState(database);
  if (applied + unknown.length > 0) return;
  const place = databaseUrl ? `at ${describeServer(databaseUrl)}` : `in ${dataDir}`;
  const remedy = `Check ${databaseUrl ? 'DATABASE_URL' : 'DATA_DIR'}. ${creationRemedy}`;
  throw new Error(`The database ${place} has no tables of a gateway. ${remedy}`);
}
