import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';

/** Encrypts a user group token for the table that stores it. */
export type EncryptToken = (
  table: 'user_group' | 'retired_token',
  token: string,
) => { readonly tokenHash: Buffer; readonly tokenEncrypted: Buffer };

/** How many tokens are read, encrypted and written at once. */
const batchSize = 2_000;

/** The tables that held tokens as text, and a column that orders their rows. */
const tables = [
  { table: 'user_group', key: 'team_id', type: 'int', before: 0 },
  { table: 'retired_token', key: 'token', type: 'text', before: '' },
] as const;

/**
 * Fills `token_hash` and `token_encrypted` of every row that has a token as text, inside the transaction of the migration
 * `encrypt_tokens`, whose SQL then removes the text. Keeps no more than a batch in memory.
 *
 * @param query sends a statement on the connection of the transaction.
 * @returns whether there was any token.
 */
export async function encryptTokens(
  query: (text: string, values?: unknown[]) => Promise<readonly Record<string, unknown>[]>,
  encrypt: EncryptToken,
): Promise<boolean> {
  let any = false;
  for (const { table, key, type, before } of tables) {
    await query(`alter table ${table} add column token_hash bytea, add column token_encrypted bytea`);
    for (let last: unknown = before; ; ) {
      const rows = await query(`select ${key} as key, token from ${table} where ${key} > $1 order by ${key} limit ${batchSize}`, [
        last,
      ]);
      if (rows.length === 0) break;
      any = true;
      const encrypted = rows.map(({ token }) => encrypt(table, String(token)));
      await query(
        `update ${table} set token_hash = new.hash, token_encrypted = new.encrypted
         from unnest($1::${type}[], $2::bytea[], $3::bytea[]) as new (key, hash, encrypted) where ${table}.${key} = new.key`,
        [
          rows.map((row) => row['key']),
          ...(['tokenHash', 'tokenEncrypted'] as const).map((part) => encrypted.map((row) => row[part])),
        ],
      );
      last = rows.at(-1)?.['key'];
    }
  }
  return any;
}

/**
 * Regenerates PostgreSQL's statistics, which had some of the tokens as examples of the column's values. Not possible in a
 * transaction.
 *
 * @returns what an operator should know when the role may not do it, or another transaction prevents it; nothing if it is done.
 */
export async function rewriteStatistics(client: pg.ClientBase): Promise<string | undefined> {
  // A role without the privilege gets a warning, not an error.
  const warnings: string[] = [];
  const note = ({ message }: { message?: string | undefined }) => void warnings.push(message ?? '');
  client.on('notice', note);
  try {
    if (!(await endOfOlderTransactions(client))) warnings.push('other transactions may still see them');
    await client.query('vacuum full pg_statistic');
  } catch (error) {
    warnings.push((error as Error).message);
  } finally {
    client.off('notice', note);
  }
  if (warnings.length === 0) return undefined;
  return (
    `Old statistics in this database may still contain some user group tokens as text (${warnings.join('; ')}). ` +
    'As the owner of the database or a superuser, run there: vacuum full pg_statistic;'
  );
}

/** How long to wait for the transactions of others. */
const olderTransactionsMs = 60_000;

/**
 * Waits until no transaction may see rows that were removed before this call: a rewrite would keep those rows. A transaction in
 * another database counts too, because the snapshot of the rewrite itself is as old as the oldest transaction that is running.
 *
 * @returns false if one still may after a minute.
 */
async function endOfOlderTransactions(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ xid: string }>('select pg_current_xact_id()::text as xid');
  for (const deadline = Date.now() + olderTransactionsMs; ; ) {
    const { rowCount } = await client.query(
      `select where pg_snapshot_xmin(pg_current_snapshot()) > $1::xid8 and not exists (
         select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
           and age(backend_xmin) > age($1::xid8::xid))`,
      [rows[0]?.xid],
    );
    if (rowCount === 1) return true;
    if (Date.now() > deadline) return false;
    await sleep(100);
  }
}
