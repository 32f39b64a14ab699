import type pg from 'pg';
import type { Database } from '../client.ts';

/** How long counting may take: the table is read as a whole. */
const countTimeoutMs = 3_600_000;

/** How many user groups there are. Reads the whole table, and so fails if a page is damaged. 0 if there is no such table. */
export async function countGroups({ pool }: Pick<Database, 'pool'>): Promise<number> {
  const { rowCount } = await pool.query("select from pg_class where relname = 'user_group' and pg_table_is_visible(oid)");
  if (rowCount === 0) return 0;
  // The driver knows the setting per statement; its types do not.
  const statement: pg.QueryConfig & { query_timeout: number } = {
    text: 'select count(*) as groups, count(properties), count(mapping) from user_group',
    query_timeout: countTimeoutMs,
  };
  const { rows } = await pool.query<{ groups: string }>(statement);
  return Number(rows[0]?.groups);
}
