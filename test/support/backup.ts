import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { createBackup } from '../../src/database/backup/create-backup.ts';
import type { Manifest } from '../../src/database/backup/manifest.ts';
import { type RestoreOptions, restoreBackup } from '../../src/database/backup/restore-backup.ts';
import type { Connection, Database } from '../../src/database/client.ts';
import type { EnvironmentTag } from '../../src/generated/prisma/client.ts';
import { tokenOf } from './keys.ts';

// Without the test runner, so that drills can use it, too.

/** The files in `DATA_DIR` that backups contain besides the database. */
const secretFiles = ['postgres-password', 'encryption-keys'];

/** Makes a backup. */
export const makeBackup = (
  dataDir: string,
  target: string,
  options: Partial<Parameters<typeof createBackup>[0]> = {},
): Promise<Manifest> =>
  createBackup({ dataDir, target, secretFiles, gateway: '0.0.0', signal: new AbortController().signal, ...options });

/** Restores a backup; by default it only looks whether the gateway's database accepts connections. */
export const restoreInto = (dataDir: string, source: string, options: Partial<RestoreOptions<unknown>> = {}) =>
  restoreBackup({
    dataDir,
    source,
    secretFiles,
    secretsFolder: undefined,
    signal: new AbortController().signal,
    inspect: async () => undefined,
    ...options,
  });

/**
 * What is stored: the current token of each provided id of an environment, by default Testing, decrypted.
 *
 * @throws Error when an id is stored twice.
 */
export async function readStoredTokens(
  { prisma }: Pick<Database, 'prisma'>,
  environmentTag: EnvironmentTag = 'Testing',
): Promise<Map<string, string>> {
  // Without indexes, which may hide what the table has.
  const [, groups] = await prisma.$transaction([
    prisma.$executeRaw`select set_config('enable_indexscan', 'off', true), set_config('enable_bitmapscan', 'off', true)`,
    prisma.userGroup.findMany({ where: { environmentTag } }),
  ]);
  const tokens = new Map(groups.map((group) => [group.providedId, tokenOf(group)]));
  if (tokens.size !== groups.length) throw new Error(`${groups.length - tokens.size} provided ids are stored twice.`);
  return tokens;
}

/** Draws this many numbers from each sequence of a database, as rows would. @returns the last one of each, by its name. */
export async function drawNumbers(connection: Connection, count: number): Promise<Record<string, number>> {
  const client = new pg.Client(connection);
  await client.connect();
  const { rows } = await client
    .query<{ name: string; last: number }>(
      `select name, max(drawn)::float8 as last from (
         select sequencename as name, nextval(sequencename::regclass) as drawn from pg_sequences, generate_series(1, $1)
       ) as numbers group by name`,
      [count],
    )
    .finally(() => client.end());
  return Object.fromEntries(rows.map(({ name, last }) => [name, last]));
}

/** The folders below one that have no files, as tools that copy only files leave them out. */
export const emptyFoldersIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => readdirSync(path).length === 0);
