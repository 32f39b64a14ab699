import type pg from 'pg';
import type { Database } from '../../database/client.ts';
import { rollBack } from '../../database/client.ts';
import { textRows } from '../../database/columns.ts';

/** What a line takes for itself, such as its id: 16 bytes in hexadecimal, and the number of the line. */
export interface Claim {
  readonly key: string;
  readonly line: number;
}

/** What the lines of one import have taken, so that a line that repeats another is found however far apart they are. */
export interface ImportClaims {
  /** Takes the keys for their lines. Returns the line that had a key before, by key, for each that was taken already. */
  take(claims: readonly Claim[]): Promise<ReadonlyMap<string, number>>;
  /** Forgets everything. */
  close(): Promise<void>;
}

/**
 * Opens the claims of an import: a temporary table, so that memory is bounded however long the file is. It lives in a transaction
 * of its own that lasts as long as the import, because behind a pooler nothing else keeps a connection.
 *
 * @throws Error with a message for the operator when the role may not create temporary tables.
 */
export async function openImportClaims({ pool }: Pick<Database, 'pool'>): Promise<ImportClaims> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    await client.query(createTable);
  } catch (error) {
    client.release(true);
    throw (error as { code?: string }).code === '42501' ? new Error(await missingRight(pool), { cause: error }) : error;
  }
  return {
    async take(claims) {
      const values = [claims.map(({ key }) => key), claims.map(({ line }) => line)];
      const { rowCount } = await client.query(insertClaims, values);
      if (rowCount === claims.length) return new Map();
      const { rows } = await client.query<[string, string]>({ ...textRows, text: findClaims, values: values.slice(0, 1) });
      return new Map(rows.map(([key, line]) => [key.replaceAll('-', ''), Number(line)]));
    },
    close: () => rollBack(client),
  };
}

async function missingRight(pool: pg.Pool): Promise<string> {
  const { rows } = await pool.query<{ role: string; database: string }>(
    'select quote_ident(current_user) as role, quote_ident(current_database()) as database',
  );
  const [{ role, database } = { role: '', database: '' }] = rows;
  return (
    'The import needs a temporary table to find lines that repeat others, and the role may not create one. Nothing was written. ' +
    `As the owner of the database or a superuser, run:\n\n  grant temporary on database ${database} to ${role};`
  );
}

/** The input may pause for longer than a server allows transactions to be idle. */
const createTable = `
  set local idle_in_transaction_session_timeout = 0;
  create temporary table import_claim (key uuid primary key, line int not null) on commit drop`;

/** In the order of the keys, as the index has them; of a key that is there twice the first line comes first. */
const insertClaims = `
  insert into import_claim select * from unnest($1::uuid[], $2::int[]) as claim (key, line) order by key, line on conflict do nothing`;

const findClaims = `
  select key, line from import_claim where key = any ($1::uuid[])`;
