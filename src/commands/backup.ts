import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import pg from 'pg';
import { openDatabase } from '../database/open.ts';
import { checkSnapshot, requireEmpty, restoreSnapshot, snapshotKeys, writeSnapshot } from '../database/snapshot.ts';
import { openLog } from '../log.ts';
import { readPackageVersion } from '../package-root.ts';
import { readConfig } from '../settings.ts';
import { escapeControls } from '../terminal-text.ts';
import { withDatabase } from './context.ts';
import { addKeys, keyFile, keyFileText, readKeyFile } from './key-file.ts';
import { printResult, thousands } from './output.ts';
import { untilStopSignal } from './stop-signals.ts';

/** `backup DIR`: writes a snapshot of the database, while gateways run or not. */
export function defineBackup(command: Command): void {
  command
    .argument('<dir>', 'the new folder of the backup', (dir) => resolve(dir))
    .option('--without-keys', 'leave the encryption keys out: keep a copy of them elsewhere')
    .addHelpText('after', '\nThe folder contains the encryption keys, so keep it secret.')
    .action(backup);
}

/** `restore DIR`: restores a snapshot into an empty database: that of DATABASE_URL, or that of DATA_DIR. */
export function defineRestore(command: Command): void {
  command
    .argument('<dir>', 'the folder of the backup', (dir) => resolve(dir))
    .addHelpText('after', '\nA gateway on the database sends events to the webhooks of the backup.')
    .action(restore);
}

function backup(folder: string, { withoutKeys }: { withoutKeys?: boolean }): Promise<void> {
  return withDatabase('read', async ({ config, database, stop }) => {
    const readKeys = () => (withoutKeys ? undefined : keyFileText(config.encryptionKeys ?? readKeyFile(keyFile(config.dataDir))));
    const { tables } = await writeSnapshot(database, folder, { version: readPackageVersion(), readKeys, signal: stop }).catch(
      explain,
    );
    const keys = withoutKeys
      ? 'It does not contain the encryption keys: keep a copy of them elsewhere.'
      : 'It contains the encryption keys: keep it secret.';
    printResult(false, {}, `Wrote ${escapeControls(folder)}: ${describeGroups(tables)}. ${keys}`);
  });
}

async function restore(folder: string): Promise<void> {
  const config = readConfig(process.env, process.stderr.isTTY);
  const log = openLog(config, process.stderr);
  const onEvent = (message: string) => log.warn(message);
  const signal = untilStopSignal();
  const manifest = await checkSnapshot(folder);
  const database = await openDatabase({ ...config, signal, onEvent });
  const isKeyFile = manifest.keys && !config.databaseUrl && !config.encryptionKeys;
  try {
    await requireEmpty(database);
    if (isKeyFile) addKeys(keyFile(config.dataDir), readKeyFile(join(folder, snapshotKeys)));
    await restoreSnapshot(database, folder, manifest, { signal, onEvent });
  } catch (error) {
    explain(error);
  } finally {
    await database.close();
  }
  const place = config.databaseUrl ? 'the database' : escapeControls(resolve(config.dataDir));
  const keys = manifest.keys
    ? `Its encryption keys are in ${escapeControls(join(folder, snapshotKeys))}: set ENCRYPTION_KEYS or ENCRYPTION_KEYS_FILE to them.`
    : `The backup has no encryption keys: put them into ${escapeControls(keyFile(config.dataDir))}, ENCRYPTION_KEYS or ENCRYPTION_KEYS_FILE.`;
  const restored = `Restored ${place}: ${describeGroups(manifest.tables)}, as of ${manifest.createdAt}.`;
  printResult(false, {}, isKeyFile ? restored : `${restored} ${keys}`);
}

function describeGroups(tables: readonly { readonly name: string; readonly rows: number }[]): string {
  const rows = tables.find(({ name }) => name === 'user_group')?.rows ?? 0;
  return `${thousands(rows)} user ${rows === 1 ? 'group' : 'groups'}`;
}

/** @throws Error with the message of the server, or else the given one. */
function explain(cause: unknown): never {
  if (!(cause instanceof pg.DatabaseError)) throw cause;
  throw new Error(`PostgreSQL reported: ${cause.message} (${cause.code}).`, { cause });
}
