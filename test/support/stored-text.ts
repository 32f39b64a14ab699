import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Database } from '../../src/database/client.ts';
import { bytesOf } from './secret-search.ts';

/** Every row of every table of the database's own, as text. */
export async function dumpOf({ pool }: Pick<Database, 'pool'>): Promise<string> {
  const { rows: tables } = await pool.query<{ name: string }>(
    "select quote_ident(relname) as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' order by 1",
  );
  const dumps = tables.map(({ name }) => pool.query<{ row: string }>(`select t::text as row from ${name} t order by 1`));
  return (await Promise.all(dumps))
    .map(({ rows }, index) => [tables[index]?.name, ...rows.map(({ row }) => row)].join('\n'))
    .join('\n');
}

/** The names of the files of this database that contain a text, once everything is written to them. */
export async function dataFilesWith({ pool }: Pick<Database, 'pool'>, text: RegExp): Promise<string[]> {
  await pool.query('checkpoint');
  const { rows } = await pool.query<{ folder: string }>(
    "select current_setting('data_directory') || '/base/' || oid as folder from pg_database where datname = current_database()",
  );
  const folder = rows[0]?.folder ?? '';
  return readdirSync(folder).filter((file) => text.test(bytesOf(join(folder, file)).toString('latin1')));
}
