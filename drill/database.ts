import pg from 'pg';
import { connectDatabase, type Database } from '../src/database/client.ts';
import { until } from '../test/support/process.ts';

/** Uses a database directly. */
export async function withDatabase<Result>(url: string, use: (database: Database) => Promise<Result>): Promise<Result> {
  const database = connectDatabase({ connectionString: url });
  try {
    return await use(database);
  } finally {
    await database.close();
  }
}

/** Executes a statement on a connection of its own. @returns its rows. */
export async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end().catch(() => {});
  }
}

/** Waits until a database accepts connections. @returns when, by `performance.now()`. */
export async function untilAccepting(
  url: () => string,
  what: string | (() => string) = 'the database accepts connections',
): Promise<number> {
  await until(() => query(url(), 'select 1').catch(() => undefined), what);
  return performance.now();
}
