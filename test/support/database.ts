import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { connectDatabase, type Database } from '../../src/database/client.ts';
import { until } from './process.ts';

/** A database of a test's own. */
export interface TestDatabase extends Database {
  /** Leads to the server itself, also where this database is connected through PgBouncer. */
  readonly url: string;
}

/** The template of an empty database, not migrated, whose encoding is not UTF8. */
export const inAscii = "template0 encoding 'SQL_ASCII' locale_provider libc locale 'C'";

/**
 * Creates an empty, migrated database, as a copy of the one that the gateway made. Closing it drops it.
 *
 * @param template another one to copy, with further options of `create database`.
 */
export async function createTestDatabase(template = 'user_group_gateway'): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  // Copied as files, without a journal of each page, which only a replica or a crash would need.
  await administrate(`create database ${name} template ${template} strategy file_copy`);
  const url = `${inject('serverUrl')}/${name}`;
  const pooler = inject('poolerUrl');
  const database = connectDatabase({ connectionString: pooler ? pooler + name : url }, { namedStatements: !pooler });
  return {
    ...database,
    url,
    async close() {
      await database.close();
      await administrate(`drop database ${name} with (force)`);
    },
  };
}

/** Waits until this many statements in a database wait for locks. */
export async function untilBlocked({ pool }: Pick<Database, 'pool'>, count = 1): Promise<void> {
  const blocked = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  await until(async () => Number((await pool.query(blocked)).rowCount) >= count, `${count} statements wait for locks`);
}

/**
 * Runs a statement about a whole database, which nobody may be connected to. PostgreSQL ends what is, and gives up after five
 * seconds; on a busy machine that takes longer.
 */
async function administrate(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: `${inject('serverUrl')}/postgres` });
  await client.connect();
  const isDone = () =>
    client.query(statement).catch((error: { code?: string }) => {
      if (error.code !== objectInUse) throw error;
    });
  await until(isDone, statement).finally(() => client.end());
}

const objectInUse = '55006';

/** Runs a change that the triggers ignore. */
export async function changeSilently({ pool }: Database, change: string): Promise<void> {
  await pool.query(`begin; set local gateway.silent = 'on'; ${change}; commit`);
}
