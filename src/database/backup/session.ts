import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { Connection } from '../client.ts';
import { applicationNames } from '../database-url.ts';

/** How long the checkpoint at the start may take, which writes the whole cache to disk. */
const checkpointTimeoutMs = 600_000;

/** The key of the advisory lock that is held during a backup: a second one would only take the disk's time from the first. */
const backupLock = 727_074;

/** A base backup that PostgreSQL has begun. It ends with the session. */
export interface BackupSession {
  readonly systemIdentifier: string;
  /** Aborted when the session ends: the backup cannot be completed then. */
  readonly lost: AbortSignal;
  /** Ends the backup. */
  stop(): Promise<BackupEnd>;
  /** Closes the session. */
  close(): Promise<void>;
}

/** What PostgreSQL says at the end of a backup. */
export interface BackupEnd {
  /** The content of the file `backup_label`, without which recovery would begin in the wrong place. */
  readonly label: string;
  readonly stopLsn: string;
  /** The names of the segments of the log that recovery needs. */
  readonly segments: readonly string[];
  readonly segmentBytes: number;
}

/**
 * Has PostgreSQL begin a base backup. Until the session is closed, the server keeps the log that recovery needs, by a replication
 * slot that ends with the session.
 *
 * @throws Error when another backup is being made, or there are tablespaces.
 */
export async function beginBackup(connection: Connection): Promise<BackupSession> {
  const client = new pg.Client({
    ...connection,
    application_name: applicationNames.backup,
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    query_timeout: checkpointTimeoutMs,
  });
  const lost = new AbortController();
  const lose = () =>
    lost.abort(new Error('PostgreSQL stopped during the backup, so it is incomplete and was removed. Run it again.'));
  client.on('error', lose);
  client.on('end', lose);
  await client.connect();
  try {
    const [state] = await rowsOf<{ held: boolean; tablespaces: string | null; id: string }>(
      client,
      `select pg_try_advisory_lock(${backupLock}) as held, (select system_identifier::text from pg_control_system()) as id,
         (select string_agg(spcname, ', ') from pg_tablespace where spcname not in ('pg_default', 'pg_global')) as tablespaces`,
    );
    if (!state?.held) throw new Error('Another backup of this database is being made. Wait until it has finished.');
    if (state.tablespaces !== null) {
      throw new Error(
        `The database has tablespaces (${state.tablespaces}), which this command does not back up. Use pg_basebackup.`,
      );
    }
    // Before the start, so that no segment is removed in between.
    await client.query('select pg_create_physical_replication_slot($1, true, true)', [
      `backup_${randomUUID().replaceAll('-', '_')}`,
    ]);
    const [start] = await rowsOf<{ lsn: string }>(client, "select pg_backup_start('user-group-gateway', true)::text as lsn");
    return {
      systemIdentifier: state.id,
      lost: lost.signal,
      stop: () => stopBackup(client, start?.lsn ?? ''),
      async close() {
        await client.end().catch(() => {});
      },
    };
  } catch (error) {
    await client.end().catch(() => {});
    throw error;
  }
}

async function stopBackup(client: pg.Client, startLsn: string): Promise<BackupEnd> {
  const [end] = await rowsOf<{ lsn: string; labelfile: string; segments: string[]; bytes: string }>(
    client,
    `select lsn::text, labelfile, bytes, array(
         select distinct pg_walfile_name(least($1::pg_lsn + number * bytes, lsn))
         from generate_series(0, ceil((lsn - $1::pg_lsn) / bytes)) as number
       ) as segments
     from pg_backup_stop(wait_for_archive => false),
       (select setting::numeric as bytes from pg_settings where name = 'wal_segment_size') as size`,
    [startLsn],
  );
  if (!end) throw new Error('PostgreSQL did not end the backup.');
  return { label: end.labelfile, stopLsn: end.lsn, segments: end.segments, segmentBytes: Number(end.bytes) };
}

async function rowsOf<Row extends pg.QueryResultRow>(client: pg.Client, text: string, values?: unknown[]): Promise<Row[]> {
  return (await client.query<Row>(text, values)).rows;
}
