import { accessSync, constants, existsSync, realpathSync, statfsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Command } from 'commander';
import { clusterOf, connectionTo, findLoss } from '../database/bundled.ts';
import { type Connection, connectDatabase, type Database } from '../database/client.ts';
import { describeServer } from '../database/database-url.ts';
import { isRejectedByPooler } from '../database/errors.ts';
import { type MigrationState, minServerVersion, readMigrationState } from '../database/migrate.ts';
import { requireCreatePrivileges, requirePrivileges } from '../database/privileges.ts';
import { findDatabaseProblem, type SessionProblem } from '../database/server-state.ts';
import { findSessionProblem } from '../database/session-settings.ts';
import { KeyRing } from '../encryption/keys.ts';
import { ConfigError, messagesOf } from '../errors.ts';
import { findKeyIdsInUse } from '../key-rotation.ts';
import { readPackageVersion } from '../package-root.ts';
import { type Config, readConfig } from '../settings.ts';
import { escapeControls } from '../terminal-text.ts';
import { redactTokens } from '../tokens.ts';
import { keyFile, readKeyFile, whereKeysBelong } from './key-file.ts';
import { printResult } from './output.ts';

/** A failure keeps the gateway from working, or loses data. */
type Status = 'ok' | 'warning' | 'failure' | 'skipped';

interface Outcome {
  readonly status: Status;
  readonly found: string;
  /** What to do about it. */
  readonly remedy?: string;
}

/** What the checks are made of. Later ones use what earlier ones have found. */
interface State {
  readonly config: Config;
  /** The connections, once the database was reached. */
  database?: Database;
  migrations?: MigrationState;
}

type Check = (state: State) => Outcome | Promise<Outcome>;

const ok = (found: string): Outcome => ({ status: 'ok', found });
const skipped = (found: string): Outcome => ({ status: 'skipped', found });
const warning = (found: string, remedy: string): Outcome => ({ status: 'warning', found, remedy });
const failure = (found: string, remedy: string): Outcome => ({ status: 'failure', found, remedy });
const unless = (problem: SessionProblem | undefined, found: string): Outcome =>
  problem ? failure(problem.found, problem.remedy) : ok(found);

const withDatabase =
  (check: (database: Database, state: State) => Outcome | Promise<Outcome>): Check =>
  (state) =>
    state.database ? check(state.database, state) : skipped('needs a database that accepts connections');

/** The checks, in the order in which they are made. Their names are stable. */
const checks: Readonly<Record<string, Check>> = {
  settings: checkSettings,
  disk: checkDisk,
  database: checkDatabase,
  version: withDatabase(checkVersion),
  migrations: withDatabase(checkMigrations),
  privileges: withDatabase(checkPrivileges),
  'encryption-keys': withDatabase(checkKeys),
  clock: withDatabase(checkClock),
  sessions: withDatabase(checkSessions),
};

/** The names of the checks. */
export const checkNames = Object.keys(checks);

/** `doctor`: checks the settings, the database and this machine. Changes nothing and starts nothing. */
export function define(command: Command): void {
  command
    .option('--json', 'one JSON object instead of text')
    .addHelpText(
      'after',
      `\nOne line for each check, with what to do. Exit status 1 if one fails.\nChecks: ${checkNames.join(', ')}.`,
    )
    .action(doctor);
}

async function doctor({ json }: { json?: boolean }): Promise<void> {
  const results: { name: string; status: Status; found: string; remedy: string | null }[] = [];
  for await (const { name, status, found, remedy } of findings()) {
    const oneLine = (text: string) => escapeControls(redactTokens(text.replace(/\s+/g, ' ').trim()));
    const result = { name, status, found: oneLine(found), remedy: remedy === undefined ? null : oneLine(remedy) };
    results.push(result);
    const text = [result.found.replace(/\.$/, ''), result.remedy].filter(Boolean).join('. ');
    if (!json) process.stdout.write(`${status.padEnd(7)}  ${name.padEnd(15)}  ${text}\n`);
  }
  const isOk = results.every(({ status }) => status !== 'failure');
  if (json) printResult(true, { ok: isOk, version: readPackageVersion(), checks: results }, '');
  if (!isOk) process.exitCode = 1;
}

async function* findings(): AsyncGenerator<Outcome & { readonly name: string }> {
  let state: State;
  try {
    state = { config: readConfig(process.env, false) };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    // Of each only the first sentence: what follows may have a new key to use.
    for (const problem of error.problems)
      yield { name: 'settings', ...failure(problem.split(/\. |\n/)[0] ?? '', 'Correct the setting.') };
    return;
  }
  try {
    for (const [name, check] of Object.entries(checks)) {
      const outcome = await Promise.resolve(state)
        .then(check)
        .catch((error) => failure(messagesOf(error).join(', '), 'Resolve this first.'));
      yield { name, ...outcome };
    }
  } finally {
    await state.database?.close();
  }
}

function checkSettings({ config: { host, publicUrl } }: State): Outcome {
  if (['127.0.0.1', 'localhost', '::1'].includes(host) || publicUrl) return ok('valid');
  return warning('clients on other machines can connect, and PUBLIC_URL is not set', 'Set it to the URL that clients use.');
}

const mebibyte = 2 ** 20;

function checkDisk({ config: { databaseUrl, dataDir } }: State): Outcome {
  if (databaseUrl) return skipped('DATABASE_URL is set; check the disk of the database server');
  let folder = resolve(dataDir);
  while (!existsSync(folder)) folder = dirname(folder);
  accessSync(folder, constants.W_OK | constants.X_OK);
  const { bavail, bsize } = statfsSync(existsSync(clusterOf(dataDir)) ? clusterOf(dataDir) : folder);
  const free = Math.floor((bavail * bsize) / mebibyte);
  const found = `${free} MiB free in ${folder}`;
  if (free >= 1_024) return ok(found);
  return (free < 256 ? failure : warning)(found, 'Free space there: without space, every write fails.');
}

async function checkDatabase(state: State): Promise<Outcome> {
  const { databaseUrl, dataDir } = state.config;
  const lost = databaseUrl ? undefined : findLoss(dataDir);
  if (lost) return failure(lost.found, lost.remedy);
  const connection = databaseUrl ? { connectionString: databaseUrl } : findBundled(dataDir);
  if (!connection)
    return skipped('the bundled PostgreSQL is not running, and this command starts nothing: run it again while a gateway runs');
  const place = databaseUrl ? describeServer(databaseUrl) : clusterOf(dataDir);
  // Without named statements, so that it works behind any pooler.
  const database = connectDatabase(connection, { namedStatements: false, poolSize: 2 });
  try {
    const problem = await findDatabaseProblem(database.pool); // a server that takes no writes is refused
    state.database = database;
    return unless(problem, `${place} accepts writes`);
  } catch (error) {
    await database.close();
    const remedy = databaseUrl
      ? 'Start the server, and check DATABASE_URL: it must lead to a server that takes writes.'
      : 'Stop every gateway that uses this DATA_DIR, and start one; its message says more.';
    return failure(`${place} cannot be used: ${messagesOf(error).join(', ')}`, remedy);
  }
}

/** Nothing when the bundled PostgreSQL does not run. */
function findBundled(dataDir: string): Connection | undefined {
  try {
    return connectionTo(realpathSync(clusterOf(dataDir)));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

async function checkVersion({ pool }: Database): Promise<Outcome> {
  const { rows } = await pool.query<{ server_version: string }>('show server_version');
  const version = rows[0]?.server_version ?? '';
  if (Number.parseInt(version, 10) >= minServerVersion) return ok(`PostgreSQL ${version}`);
  return failure(`PostgreSQL ${version} is not supported`, `Upgrade to PostgreSQL ${minServerVersion} or later.`);
}

async function checkMigrations(database: Database, state: State): Promise<Outcome> {
  state.migrations = await readMigrationState(database);
  const { applied, pending, unknown } = state.migrations;
  if (unknown.length > 0)
    return warning(`the database has migrations of a newer version: ${unknown.join(', ')}`, 'Update this gateway.');
  if (pending.length === 0) return ok(`all ${applied} are applied`);
  return warning(`not applied: ${pending.join(', ')}`, 'The next start applies them; the command migrate does so now.');
}

async function checkPrivileges(database: Database, { migrations }: State): Promise<Outcome> {
  if (!migrations) return skipped('needs the list of migrations');
  const [next] = migrations.pending;
  try {
    await (next === undefined ? requirePrivileges(database) : requireCreatePrivileges(database.pool, next));
    return ok('the role has those that the gateway needs');
  } catch (error) {
    const [found = '', ...statements] = (error as Error).message.split('\n\n');
    return failure(found, statements.join(' '));
  }
}

async function checkKeys(database: Database, { config }: State): Promise<Outcome> {
  const used = await findKeyIdsInUse(database);
  const file = config.encryptionKeys ? process.env['ENCRYPTION_KEYS_FILE'] : keyFile(config.dataDir);
  const keys = config.encryptionKeys ?? (file && existsSync(file) ? readKeyFile(file) : []);
  const { ids } = new KeyRing(keys);
  const missing = used.filter((id) => !ids.includes(id));
  if (missing.length > 0)
    return failure(`rows are encrypted with keys that are not there: ${missing.join(', ')}`, `${whereKeysBelong(config)}.`);
  const found = `${ids.length} there, ${used.length} in use`;
  if (!file || process.platform === 'win32' || !existsSync(file) || (statSync(file).mode & 0o077) === 0) return ok(found);
  return warning(`${found}; others than the owner can use ${file}`, 'Run chmod 600 on it.');
}

async function checkClock({ pool }: Database): Promise<Outcome> {
  const before = Date.now();
  const { rows } = await pool.query<{ ms: string }>('select extract(epoch from clock_timestamp()) * 1000 as ms');
  const seconds = Math.round((Number(rows[0]?.ms) - (before + Date.now()) / 2) / 1_000);
  const found = `the clock of the database differs by ${seconds} s from that of this machine`;
  if (Math.abs(seconds) <= 2) return ok(found);
  return (Math.abs(seconds) > 60 ? failure : warning)(
    found,
    'Synchronize both clocks (NTP): that of the database decides when tokens expire.',
  );
}

async function checkSessions(_: Database, { config: { databaseUrl, namedStatements } }: State): Promise<Outcome> {
  if (!databaseUrl) return ok('those of the bundled PostgreSQL');
  // As the gateway connects, which a pooler may reject.
  const database = connectDatabase({ connectionString: databaseUrl }, { namedStatements, poolSize: 1 });
  try {
    const problem = await findSessionProblem(database.pool, namedStatements);
    return problem ? warning(problem.found, problem.remedy) : ok('begin with the settings that the gateway needs');
  } catch (error) {
    if (!isRejectedByPooler(error)) throw error;
    return failure(
      `a pooler rejects the settings of sessions: ${messagesOf(error).join(', ')}`,
      'Set DB_NAMED_STATEMENTS=false.',
    );
  } finally {
    await database.close();
  }
}
