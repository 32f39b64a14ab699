import type { Logger } from 'pino';
import { type Config, readConfig } from '../config.ts';
import type { Database } from '../database/client.ts';
import { isUnavailable } from '../database/errors.ts';
import { migrate } from '../database/migrate.ts';
import { openDatabase } from '../database/open.ts';
import { requirePrivileges } from '../database/privileges.ts';
import type { KeyRing } from '../domain/keys.ts';
import { encryptToken } from '../domain/user-group-tokens.ts';
import { openLog } from '../logger.ts';
import { openKeys, requireKeys } from './open-keys.ts';

/** What a command that uses the database receives. */
export interface CommandContext {
  readonly config: Config;
  readonly log: Logger;
  readonly database: Database;
  readonly keys: KeyRing;
}

/**
 * Reads the settings, opens the database, applies pending migrations, runs `work`, and closes the database.
 *
 * @throws ConfigError for invalid settings.
 * @throws Error with a message for the operator when the database is unavailable.
 */
export async function withDatabase<Result>(work: (context: CommandContext) => Promise<Result>): Promise<Result> {
  const config = readConfig(process.env, process.stderr.isTTY);
  const log = openLog(config);
  const database = await openDatabase({ ...config, onEvent: (message) => log.warn(message) });
  try {
    const keys = await openKeys(config, database);
    const applied = await migrate(database.pool, {
      encryptToken: (table, token) => encryptToken(keys, table, token),
      onEvent: (message) => log.warn(message),
    });
    if (applied.length > 0) log.info({ applied }, 'applied migrations');
    await requirePrivileges(database);
    await requireKeys(config, keys, database);
    return await work({ config, log, database, keys });
  } catch (cause) {
    if (!isUnavailable(cause)) throw cause;
    throw new Error(`The database is unavailable: ${(cause as Error).message}`, { cause });
  } finally {
    await database.close();
  }
}
