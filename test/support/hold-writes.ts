import pg from 'pg';
import { until } from './process.ts';

/** Writes to user groups that wait in a database. */
export interface HeldWrites {
  /** Waits until a request waits there. */
  untilOneWaits(): Promise<unknown>;
  /** Lets them go on. */
  release(): Promise<void>;
}

/** Makes every write to a user group in a database wait until it is released. */
export async function holdWrites(databaseUrl: string): Promise<HeldWrites> {
  const holder = new pg.Client(databaseUrl);
  await holder.connect();
  holder.on('error', () => {});
  await holder.query('begin; lock table user_group in access exclusive mode');
  return {
    untilOneWaits: () => untilWaiting(holder, 'user_group'),
    release: () => holder.end(),
  };
}

/** Waits until statements wait for a lock on a table, by default one. */
export function untilWaiting(database: Pick<pg.Pool, 'query'>, table: string, count = 1): Promise<unknown> {
  // In this database: as copies of one, those of all tests have the table under the same number.
  const waiting = `select 1 from pg_locks join pg_database d on d.oid = database
    where not granted and relation = $1::regclass and datname = current_database()`;
  return until(
    async () => ((await database.query(waiting, [table])).rowCount ?? 0) >= count,
    `${count} requests wait in the database`,
  );
}
