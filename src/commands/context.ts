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
import { didYouMean } from '../did-you-mean.ts';
import type { KeyRing } from '../encryption/keys.ts';
import { logOutages, openLog } from '../log.ts';
import { type Config, readConfig, settings } from '../settings.ts';
import { escapeControls } from '../terminal-text.ts';
import { openKeys, requireKeys } from './key-file.ts';
import { processIo } from './process-io.ts';
import { type StopRequest, untilStopped } from './stop-request.ts';

/** Who the audit log names for the changes of this command: the user of the operating system who runs it. */
export function ownAuthor(): Author {
  return commandAuthor(userName());
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.() ?? 'unknown'}`; // one without a name, as in many containers
  }
}

/** The context of a command: it may do everything, and the audit log names the user of the operating system who runs it. */
export const ownContext = ({ config, database, keys }: DatabaseContext): Context =>
  contextOf(createApp(database, keys, { webhookNetworks: config.webhooksAllowedNetworks ?? [] }), Caller.trusted(ownAuthor()));

/** The database of a process, with its keys. */
export interface DatabaseContext {
  readonly config: Config;
  readonly log: Logger;
  readonly database: Database;
  readonly keys: KeyRing;
}

/** What a command that uses the database receives. */
export interface CommandContext extends DatabaseContext {
  /** The request to stop. What takes longer than a few statements ends at it. */
  readonly stop: StopRequest;
}

/** The work of a command. @returns the exit status. */
type Work = (context: CommandContext) => Promise<number>;

/**
 * Reads the settings, opens the database, which is created if there is none, applies pending migrations, runs `work`, and closes
 * the database, also after a request to stop. For what begins with an empty database; every other command takes
 * {@link withExistingDatabase}.
 *
 * @throws ConfigError for invalid settings.
 * @throws Error with a message for the operator when the database is unavailable.
 */
export const withDatabase = (work: Work): Promise<number> => runWork(work);

/**
 * The same for a database that a gateway uses: in an empty one, created by a mistake in the settings, nothing would be missed.
 *
 * @throws Error also when there is none.
 */
export const withExistingDatabase = (work: Work): Promise<number> => runWork(work, { mustExist: true });

/** The same for work that changes nothing. @throws Error also when there is no database. */
export const withDatabaseToRead = (work: Work): Promise<number> => runWork(work, { mustExist: true, changesData: false });

/** How a database is opened. */
interface Opening {
  readonly mustExist?: boolean;
  /** Whether pending migrations are applied. */
  readonly changesData?: boolean;
  readonly isServer?: boolean;
}

async function runWork(work: Work, opening: Opening = {}): Promise<number> {
  const { databaseUrl, dataDir } = readConfig(process.env, process.stderr.isTTY);
  // Where somebody tried the gateway once, a command without settings would use what is left of it.
  if (!databaseUrl && dataDir === settings.dataDir.default)
    processIo.stderr.write(
      `DATABASE_URL is not set, and DATA_DIR is ${dataDir}: using the database in ${escapeControls(resolve(dataDir))}.\n`,
    );
  return untilStopped((stop) => openAndRun((context) => work({ ...context, stop }), stop.signal, opening));
}

/**
 * The same for a server, which stops by itself once `work` has begun.
 *
 * @param signal ends what comes before.
 * @throws the reason of the signal, if it is aborted before `work` begins.
 */
export const withServerDatabase = <Result>(
  work: (context: DatabaseContext) => Promise<Result>,
  signal: AbortSignal,
): Promise<Result> => openAndRun(work, signal, { isServer: true });

/** What may be meant as a setting that is not set: one letter, case or underscores differ. With two, `PGPORT` is `PORT`. */
export function findMisspelled(environment: NodeJS.ProcessEnv): readonly string[] {
  const names: readonly string[] = Object.values(settings).map(({ name }) => name);
  return Object.keys(environment).flatMap((name) => {
    const isOther = environment[name] && !names.includes(name);
    const near = isOther && didYouMean(name, names, 1);
    return near && !environment[near] ? [`${name} is not a setting, and ${near} is not set`] : [];
  });
}

/** Settings that do not count, set or not, while the other one is set. */
const replacedBy: Readonly<Record<string, string>> = {
  ENCRYPTION_KEYS: 'ENCRYPTION_KEYS_FILE',
  ENCRYPTION_KEYS_FILE: 'ENCRYPTION_KEYS',
  DATA_DIR: 'DATABASE_URL',
};

/** Which settings are set, but empty, as by a secret that could not be read: the gateway may run without what they are to do. */
export function findEmpty(environment: NodeJS.ProcessEnv): readonly string[] {
  const names = Object.values(settings).map(({ name }) => name);
  const empty = names.filter((name) => environment[name] === '' && !environment[replacedBy[name] ?? '']);
  return empty.map((name) => `${name} is empty, which counts as not set`);
}

/** Logs which variables may be meant as settings, and which settings are empty. */
function warnOfSettings(log: Logger): void {
  for (const text of [...findMisspelled(process.env), ...findEmpty(process.env)]) log.warn(text);
}

async function openAndRun<Result>(
  work: (context: DatabaseContext) => Promise<Result>,
  signal: AbortSignal,
  { mustExist = false, changesData = true, isServer = false }: Opening,
): Promise<Result> {
  const config = readConfig(process.env, process.stderr.isTTY);
  const log = openLog(config, processIo.log);
  warnOfSettings(log);
  let hasBegun = false;
  const onEvent = (message: string) => log.warn(message);
  const database = await openDatabase({ ...config, mustExist, isServer, signal, onEvent });
  try {
    signal.throwIfAborted();
    if (mustExist) await requireTables(config, database);
    const lost =
      'the file of the encryption keys cannot be read; those that were read before stay in use until this process ends';
    const keys = await openKeys(config, database, logOutages(log, lost, 'the file of the encryption keys can be read again'));
    // Before anything is changed. What the role may not read is reported below, with the SQL that grants it.
    await requireKeys(config, keys, database).catch((error) => {
      if (error.code !== '42501') throw error;
    });
    if (changesData) {
      const applied = await migrate(database, { signal, onEvent });
      if (applied.length > 0) log.info({ applied }, 'applied migrations');
    } else await requireMigrated(database, { onEvent });
    await requirePrivileges(database);
    await requireKeys(config, keys, database); // another process may have written first, with other keys
    signal.throwIfAborted();
    hasBegun = true;
    return await work({ config, log, database, keys });
  } catch (cause) {
    if (!isUnavailable(cause)) throw cause;
    const isUncertain = hasBegun && changesData ? '. A change that was in progress may have been made.' : '';
    throw new Error(`The database is unavailable: ${(cause as Error).message}${isUncertain}`, { cause });
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
