import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exitCodeOf, type Stopped, untilStopSignal } from '../src/commands/stop-signals.ts';
import { openBundled } from '../src/database/bundled.ts';
import { connectDatabase, type Database } from '../src/database/client.ts';
import { migrate } from '../src/database/migrate.ts';

/** A database with every migration applied, in a PostgreSQL of its own. */
export interface TemporaryDatabase {
  readonly database: Database;
  /** Stops PostgreSQL, and deletes everything. */
  close(): Promise<void>;
}

/** Opens one, which a signal closes, too. @param settings settings of PostgreSQL, such as `fsync=off`. */
export async function openTemporaryDatabase(settings: string[] = []): Promise<TemporaryDatabase> {
  const dataDir = mkdtempSync(join(tmpdir(), 'user-group-gateway-'));
  chmodSync(dataDir, 0o755); // run as root, PostgreSQL runs as another user
  const remove = () => rmSync(dataDir, { recursive: true, force: true, maxRetries: 3 });
  const signal = untilStopSignal();
  const exit = () => process.exit(exitCodeOf((signal.reason as Stopped).by));
  const server = await openBundled(dataDir, { settings, signal }).catch((error: unknown) => {
    remove();
    if (signal.aborted) exit();
    throw error;
  });
  const database = connectDatabase(server.connection);
  const closeAll = async () => {
    await server.close(); // first, which ends statements that run
    await database.close().catch(() => {});
    remove();
  };
  let closing: Promise<void> | undefined;
  const close = () => (closing ??= closeAll());
  signal.addEventListener('abort', () => void close().finally(exit));
  try {
    await migrate(database);
  } catch (error) {
    await close();
    throw error;
  }
  return { database, close };
}
