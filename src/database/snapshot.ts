import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import * as copy from 'pg-copy-streams';
import { z } from 'zod';
import { syncFolder } from '../durable-file.ts';
import type { Database } from './client.ts';
import { ifDefined } from './errors.ts';
import { migrate, ownMigrations, readMigrationState } from './migrate.ts';

/** The tables of a snapshot, each after those it refers to. `request_count` and `idempotency_record` are short-lived. */
export const snapshotTables = [
  'user_group',
  'retired_token',
  'revoked_viewer',
  'api_token',
  'retired_secret',
  'signing_key',
  'event',
  'event_feed',
  'webhook',
  'webhook_delivery',
] as const;

/** The file of a snapshot with the encryption keys. */
export const snapshotKeys = 'encryption-keys';

const manifestFile = 'manifest.json';

/** How many numbers a restored sequence leaves out, or up to twice as many: those that rows may have got after the snapshot. */
const numbersLeftOut = 1_000_000;

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const table = z.enum(snapshotTables);
const manifestSchema = z.object({
  format: z.literal(1),
  /** Of the gateway that made the snapshot. */
  version: z.string(),
  createdAt: z.string(),
  migrations: z.array(z.object({ name: z.string(), checksum: sha256 })),
  /** In the order in which they are restored. */
  tables: z.array(z.object({ name: table, rows: z.int(), sha256 })),
  /** The sequences of columns, with the last number of each. */
  sequences: z.array(z.object({ table, column: z.string(), last: z.string().regex(/^\d+$/) })),
  /** The SHA-256 of the file of the keys; null without one. */
  keys: sha256.nullable(),
});

/** What a snapshot consists of. */
export type Manifest = z.output<typeof manifestSchema>;

/** Options of both directions. */
interface SnapshotOptions {
  /** Ends the connection, and with it the transaction. */
  readonly signal: AbortSignal;
}

/**
 * Writes every table as it is at one moment, while others write. The manifest comes last: a folder without one is no snapshot.
 *
 * @param folder must not exist, or be empty. After a failure it is empty.
 * @param readKeys returns the content of the file of the keys; undefined to write none.
 * @throws Error with a message for the operator; errors of the server and the file system.
 */
export async function writeSnapshot(
  database: Database,
  folder: string,
  { version, readKeys, signal }: SnapshotOptions & { readonly version: string; readonly readKeys: () => string | undefined },
): Promise<Manifest> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if ((await readdir(folder)).length > 0) throw new Error(`${folder} is not empty. Choose another folder.`);
  const client = await database.openConnection(signal);
  try {
    await client.query(
      `begin isolation level repeatable read, read only; ${withoutLimits};
       set local row_security = off; set local datestyle = 'ISO'`,
    );
    const createdAt = new Date().toISOString();
    const { rows: migrations } = await client.query<Manifest['migrations'][number]>(
      'select migration_name as name, checksum from _prisma_migrations where finished_at is not null and rolled_back_at is null order by 1',
    );
    const tables: Manifest['tables'] = [];
    for (const name of snapshotTables) {
      const rows = client.query(copy.to(`copy ${name} to stdout`));
      const file = createWriteStream(tableFile(folder, name), { flags: 'wx', mode: 0o600, flush: true });
      const hash = createHash('sha256');
      rows.on('data', (chunk) => hash.update(chunk));
      await pipeline(rows, file);
      tables.push({ name, rows: rows.rowCount, sha256: hash.digest('hex') });
    }
    const { rows: sequences } = await client.query<Manifest['sequences'][number]>(selectSequences, [snapshotTables]);
    await client.query('commit');
    // After the rows, which may use a key that was added in the meantime.
    const keys = readKeys();
    if (keys !== undefined) await writeFile(join(folder, snapshotKeys), keys, { mode: 0o600, flush: true });
    const manifest: Manifest = {
      format: 1,
      version,
      createdAt,
      migrations,
      tables,
      sequences,
      keys: keys === undefined ? null : digest(keys),
    };
    const text = JSON.stringify({ ...manifest, sha256: digest(JSON.stringify(manifest)) });
    await writeFile(join(folder, manifestFile), `${text}\n`, { mode: 0o600, flush: true });
    syncFolder(folder);
    return manifest;
  } catch (error) {
    for (const name of await readdir(folder)) await rm(join(folder, name));
    signal.throwIfAborted();
    throw error;
  } finally {
    await client.end();
  }
}

/** Reads the manifest of a snapshot, and compares all files with it. @throws Error that says what is wrong. */
export async function checkSnapshot(folder: string): Promise<Manifest> {
  const text = await readFile(join(folder, manifestFile), 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw new Error(`${folder} is not a complete backup: ${manifestFile} cannot be read (${cause.code}).`, { cause });
  });
  const manifest = parseManifest(text);
  if (!manifest) throw new Error(`${join(folder, manifestFile)} was changed: its checksum is wrong. Restore another copy.`);
  const files = manifest.tables.map((table) => ({ path: tableFile(folder, table.name), sha256: table.sha256 }));
  if (manifest.keys) files.push({ path: join(folder, snapshotKeys), sha256: manifest.keys });
  for (const file of files) {
    const hash = createHash('sha256');
    await pipeline(createReadStream(file.path), hash);
    if (hash.digest('hex') !== file.sha256)
      throw new Error(`${file.path} was changed: its checksum is wrong. Restore another copy.`);
  }
  const known = new Map(ownMigrations().map(({ name, checksum }) => [name, checksum]));
  if (manifest.migrations.some(({ name, checksum }) => known.get(name) !== checksum))
    throw new Error(
      `Version ${manifest.version} of the gateway made the backup, with other migrations. Restore it with that version.`,
    );
  return manifest;
}

/** @throws Error when a gateway has used the database. */
export const requireEmpty = ({ pool }: Database): Promise<void> => requireUnused(pool);

async function requireUnused(database: pg.Pool | pg.Client): Promise<void> {
  const select = 'select where exists (select from user_group) or exists (select from api_token) or exists (select from event)';
  const found = await ifDefined(async () => (await database.query(select)).rows);
  if (found.length > 0) throw new Error('The database is not empty. Restore the backup into a new one.');
}

/**
 * Restores a checked snapshot into a database that is empty as {@link requireEmpty} has it. Numbers go on far behind those of the
 * snapshot, and cursors of the event feed expire.
 *
 * @throws Error with a message for the operator; errors of the server.
 */
export async function restoreSnapshot(
  database: Database,
  folder: string,
  { migrations, tables, sequences }: Manifest,
  { signal, onEvent }: SnapshotOptions & { readonly onEvent: (message: string) => void },
): Promise<void> {
  const names = migrations.map(({ name }) => name);
  await migrate(database, { signal, onEvent, only: names });
  const { pending, unknown } = await readMigrationState(database);
  if (pending.length + names.length !== ownMigrations().length || unknown.length > 0)
    throw new Error('The database has migrations that the backup does not have. Restore the backup into a new one.');
  const client = await database.openConnection(signal);
  try {
    await client.query(`begin; ${withoutLimits}; set local gateway.silent = on; lock table ${snapshotTables.join(', ')}`);
    await requireUnused(client); // a gateway may have started meanwhile
    for (const { name } of tables.toReversed()) await client.query(`delete from ${name}`);
    for (const { name } of tables)
      await pipeline(createReadStream(tableFile(folder, name)), client.query(copy.from(`copy ${name} from stdin`)));
    for (const { table, column, last } of sequences) await client.query(advanceSequence, [table, column, last, numbersLeftOut]);
    await client.query('update event_feed set epoch = gen_random_uuid()');
    await client.query('commit');
    await client.query(`analyze ${tables.map(({ name }) => name).join(', ')}`);
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    await client.end();
  }
  await migrate(database, { signal, onEvent });
}

const tableFile = (folder: string, table: string): string => join(folder, `${table}.copy`);

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

/** @returns undefined when it was changed. */
function parseManifest(text: string): Manifest | undefined {
  try {
    const { sha256: own, ...content } = JSON.parse(text);
    return digest(JSON.stringify(content)) === own ? manifestSchema.parse(content) : undefined;
  } catch {
    return undefined;
  }
}

/** Role and database may have limits of their own. */
const withoutLimits =
  'set local statement_timeout = 0; set local lock_timeout = 0; set local idle_in_transaction_session_timeout = 0';

const sequenceOf = (table: string, column: string) => `pg_get_serial_sequence(${table}, ${column})`;

const selectSequences = `
  select "table", attname as "column", coalesce(last_value, 0)::text as last
  from unnest($1::text[]) as "table"
  join pg_attribute on attrelid = "table"::regclass and attnum > 0 and not attisdropped
  join pg_sequences on format('%I.%I', schemaname, sequencename) = ${sequenceOf('"table"', 'attname')}`;

const advanceSequence = `
  select setval(seqrelid::regclass, least($3::bigint + floor($4 * (1 + random()))::bigint, seqmax))
  from pg_sequence where seqrelid = ${sequenceOf('$1', '$2')}::regclass`;
