import { within } from '../concurrency/semaphore.ts';
import type { Database } from '../database/client.ts';
import { isMigrated } from '../database/migrate.ts';
import type { KeyRing } from '../encryption/keys.ts';
import { findNewestKeyId } from '../key-rotation/statements.ts';

/** How long `/readyz` waits for the database before it reports it as unreachable. */
const readinessTimeoutMs = 2_000;

/** Why the gateway cannot serve; nothing if it can. Never rejects. */
export async function unreadiness(database: Database, keys: KeyRing): Promise<string | undefined> {
  const read = async () =>
    (await isMigrated(database)) ? { newest: await findNewestKeyId(database) } : 'the database has pending migrations';
  const check = read().catch(() => 'the database is unreachable');
  const found = await within(readinessTimeoutMs, check, () => 'the database does not respond');
  if (typeof found === 'string') return found;
  // Reads a file, and does not fail for the same reasons.
  if (found.newest === undefined || keys.has(found.newest)) return undefined;
  return `the encryption key ${found.newest} is missing, which new user groups use: the command doctor says where it belongs`;
}
