import type { Database } from './client.ts';
import { usedTables } from './privileges.ts';

/** The indexes, besides primary keys, without which two rows could have one id, token or secret: writes rely on conflicts. */
const uniqueIndexes = [
  'user_group_provided_id_customer_key',
  'user_group_provided_id_testing_key',
  'user_group_token_hash_key',
  'api_token_secret_hash_key',
  'signing_key_id_key',
];

/**
 * Makes sure that the database is complete. A restore creates keys and indexes last: without them, a get-or-create would store a
 * group twice, without an error.
 *
 * @throws Error that names what is missing.
 */
export async function requireUniqueIndexes({ pool }: Pick<Database, 'pool'>): Promise<void> {
  const { rows } = await pool.query<{ name: string }>(
    `select name from unnest($1::text[]) as name
     where not exists (select from pg_index where indexrelid = to_regclass(name) and indisunique and indisvalid)
     union all
     select name || '_pkey' from unnest($2::text[]) as name
     where not exists (select from pg_index where indrelid = to_regclass(name) and indisprimary and indisvalid)`,
    [uniqueIndexes, usedTables],
  );
  if (rows.length === 0) return;
  throw new Error(
    `The database lacks these keys and unique indexes, so that a user group could be stored twice: ${rows.map(({ name }) => name).join(', ')}. ` +
      'A restore that was interrupted, or left out a part, leaves them out. Restore it again, into an empty database.',
  );
}
