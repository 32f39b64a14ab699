import { realpathSync } from 'node:fs';
import { clusterOf, connectionTo } from '../../database/bundled.ts';
import { type Connection, connectDatabase } from '../../database/client.ts';
import { describeServer } from '../../database/database-url.ts';
import { isRejectedByPooler, readOnlyServer } from '../../database/errors.ts';
import { minServerVersion, readMigrationState } from '../../database/migrate.ts';
import { requireCreatePrivileges, requirePrivileges } from '../../database/privileges.ts';
import { findEncodingProblem, findSchemaProblem, readServerState, readServerTime } from '../../database/server-state.ts';
import { findSessionProblem } from '../../database/session-settings.ts';
import { messagesOf } from '../../errors.ts';
import { type CheckContext, counted, describeBytes, failure, type Outcome, ofDatabase, ok, skipped, warning } from './check.ts';

/** Whether the database accepts connections, and is one that the gateway can use. Connects, for the other checks, too. */
export async function checkDatabase(context: CheckContext): Promise<Outcome> {
  const { databaseUrl, dataDir } = context.config;
  const connection = databaseUrl ? { connectionString: databaseUrl } : findBundled(dataDir);
  if (!connection) {
    return skipped('the bundled PostgreSQL is not running, and this command starts nothing: run it again while a gateway runs');
  }
  const place = databaseUrl ? describeServer(databaseUrl) : `in ${clusterOf(dataDir)}`;
  // Without named statements, so that it works behind any pooler and changes no setting of the session.
  const database = connectDatabase(connection, { namedStatements: false, poolSize: 1 });
  context.opened = database;
  try {
    const state = await readServerState(database);
    context.reached = { database, state };
    const found = `PostgreSQL ${state.version} (${place}), ${describeBytes(state.databaseBytes)}`;
    if (state.major < minServerVersion)
      return failure(found, `Upgrade it to PostgreSQL ${minServerVersion} or later, or set DATABASE_URL to another server.`);
    const problem = await findEncodingProblem(database.pool);
    return problem ? failure(problem.found, problem.remedy) : ok(`${found}, accepts writes`);
  } catch (error) {
    const reason = messagesOf(error).join(', ');
    if ((error as { code?: string }).code === readOnlyServer)
      return failure(
        `${place}: ${reason}`,
        'Set DATABASE_URL to a server that takes writes, or to an endpoint that leads to it. If this is the primary, turn off ' +
          'default_transaction_read_only for the role, the database and the server.',
      );
    return failure(
      `cannot be used (${place}): ${reason}`,
      databaseUrl
        ? 'Start the server, and check DATABASE_URL: host, port, database, role and password.'
        : 'Stop every gateway that uses this DATA_DIR, and start one; its message says more.',
    );
  }
}

/** @returns undefined when the bundled PostgreSQL does not run. */
function findBundled(dataDir: string): Connection | undefined {
  try {
    return connectionTo(realpathSync(clusterOf(dataDir)));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Whether an acknowledged write survives a crash of the server. */
export const checkDurability = ofDatabase(({ state: { settings } }) => {
  const unsafe = (['fsync', 'full_page_writes'] as const).filter((name) => settings[name] !== 'on');
  if (unsafe.length > 0)
    return failure(
      `${unsafe.join(' and ')} off: a crash of the machine may destroy the database`,
      `Turn on ${unsafe.join(' and ')}.`,
    );
  if (settings.synchronous_commit === 'off')
    return warning(
      'synchronous_commit is off: a crash loses writes that were acknowledged',
      'Turn on synchronous_commit for the role, the database and the server.',
    );
  return ok('acknowledged writes are on disk');
});

/** Whether an acknowledged write survives the loss of the server. */
export const checkReplication = ofDatabase(({ state }) => {
  const { standbys, synchronousStandbys: named, settings } = state;
  const names = settings.synchronous_standby_names;
  const found = `${counted(standbys, 'standby')} connected`;
  const isWaiting = names !== '' && !['off', 'local'].includes(settings.synchronous_commit);
  if (!isWaiting && standbys > 0)
    return warning(
      `${found}, and commits wait for none: a failover loses the last acknowledged writes`,
      `Set synchronous_standby_names on the server, for example to 'ANY 1 (*)', and synchronous_commit to on.`,
    );
  if (!isWaiting) return ok('there are no standbys');
  const needed = Number(/^\s*(?:(?:first|any)\s+)?(\d+)\s*\(/i.exec(names)?.[1] ?? 1); // 2 of `ANY 2 (a, b)`, 1 of `a, b`
  if (named < needed)
    return failure(
      `${found}, ${named > 0 ? `at most ${named}` : 'none'} of which synchronous_standby_names (${names}) names: every write waits for ${needed}`,
      'Start standbys with such names, or change synchronous_standby_names.',
    );
  return ok(`${found}, commits wait for ${needed} of them`);
});

const beforeStart = 'Until this is resolved, the gateway does not start.';

/** Whether the schema is the one of this version. */
export const checkMigrations = ofDatabase(async (reached) => {
  try {
    reached.migrations = await readMigrationState(reached.database);
    const { applied, pending, unknown } = reached.migrations;
    if (unknown.length > 0) {
      const newer = `the database has ${counted(unknown.length, 'migration')} of a newer version: ${unknown.join(', ')}`;
      return warning(newer, 'Update this gateway: it may not work with that database.');
    }
    if (pending.length > 0)
      return warning(
        `${pending.length} of ${applied + pending.length} are not applied: ${pending.join(', ')}`,
        'The next start applies them; the command migrate does so now.',
      );
    return ok(`all ${applied} are applied`);
  } catch (error) {
    return failure((error as Error).message, beforeStart);
  }
});

/** Whether the role may do what migrations and requests need. */
export const checkPrivileges = ofDatabase(async (reached) => {
  const { database, state, migrations } = reached;
  if (!migrations) return skipped('needs the list of migrations');
  try {
    const [next] = migrations.pending;
    await (next === undefined ? requirePrivileges(database) : requireCreatePrivileges(database.pool, next));
    return ok(`the role ${state.role} has what ${next === undefined ? 'requests' : 'migrations'} need`);
  } catch (error) {
    const [found = '', ...statements] = (error as Error).message.split('\n\n');
    return failure(found, statements.join(' ').trim() || 'See docs/configuration.md.');
  }
});

/** Whether the extension that searches use is there. */
export const checkExtensions = ofDatabase(({ state, migrations }) => {
  if (state.hasTrigrams) return ok('pg_trgm is installed');
  if (!migrations || migrations.pending.length > 0) return skipped('the migrations create pg_trgm');
  return failure('pg_trgm is missing: searches fail', 'As the owner of the database, run there: create extension pg_trgm;');
});

/** Whether all gateways can open the connections that they may open. */
export const checkConnections = ofDatabase(({ state: { connections } }, { config: { poolSize } }) => {
  const { limit, all, pooled } = connections;
  // Only a lower bound is known: at least that many processes have opened these connections.
  const processes = Math.max(Math.ceil(pooled / poolSize), 1);
  const others = all - pooled;
  const needed = processes * poolSize + others;
  const found = `up to ${poolSize} for each of at least ${counted(processes, 'process', 'processes')}, ${others} of other programs; the server permits ${limit}`;
  if (poolSize > limit)
    return failure(found, 'Lower DB_POOL_SIZE, or raise max_connections of the server and the limits of role and database.');
  if (needed > limit)
    return warning(
      found,
      'Lower DB_POOL_SIZE, run fewer processes, or raise max_connections of the server and the limits of role and database.',
    );
  return ok(found);
});

/** Clock differences that are reported, in milliseconds. */
const clockMs = { warning: 2_000, failure: 60_000 };

/** Whether the clock of this machine, which the log has, agrees with that of the database, which decides when tokens expire. */
export const checkClock = ofDatabase(async ({ database }, { now }) => {
  const before = now();
  const serverTime = await readServerTime(database);
  const after = now();
  const uncertaintyMs = (after - before) / 2;
  const differenceMs = serverTime - (before + after) / 2;
  const excessMs = Math.abs(differenceMs) - uncertaintyMs;
  const direction = differenceMs > 0 ? 'ahead of' : 'behind';
  if (excessMs < clockMs.warning)
    return ok(`differs from the database's by less than ${Math.ceil((Math.max(excessMs, 0) + 2 * uncertaintyMs + 1) / 1_000)} s`);
  const found = `the clock of the database is ${(Math.abs(differenceMs) / 1_000).toFixed(1)} s ${direction} that of this machine`;
  const remedy =
    'Synchronize the clocks of both machines (NTP): that of the database decides when tokens expire, and the log has the time of this one.';
  return excessMs >= clockMs.failure ? failure(found, remedy) : warning(found, remedy);
});

/** Whether sessions begin with what the gateway needs, also behind a pooler, which may not pass on or keep what it sets. */
export const checkSessions = ofDatabase(async ({ database }, { config: { namedStatements, databaseUrl } }) => {
  if (namedStatements && !databaseUrl) return ok('the bundled PostgreSQL takes the settings of sessions');
  // As the gateway connects, which a pooler may reject.
  const asGateway = namedStatements && connectDatabase({ connectionString: databaseUrl }, { namedStatements, poolSize: 1 });
  try {
    const problem = await findSessionProblem((asGateway || database).pool, namedStatements);
    if (problem) return warning(problem.found, problem.remedy);
    return ok(namedStatements ? 'sessions begin with the settings of the gateway' : 'sessions begin in UTC, with timeouts');
  } catch (error) {
    if (!isRejectedByPooler(error)) throw error;
    return failure(
      `a pooler rejects the settings of sessions: ${messagesOf(error).join(', ')}`,
      'Set DB_NAMED_STATEMENTS=false.',
    );
  } finally {
    if (asGateway) await asGateway.close();
  }
});

/** Whether all statements use tables of the same schema. */
export const checkSchema = ofDatabase(async ({ database }) => {
  const problem = await findSchemaProblem(database.pool);
  return problem ? failure(problem.found, problem.remedy) : ok('tables are found in public');
});
