import type { Database } from './client.ts';
import { usedTables } from './privileges.ts';

/** The unique indexes besides primary keys, as PostgreSQL prints them: without one, two rows could have one id or secret. */
const uniqueIndexes = [
  "user_group (provided_id) WHERE (environment_tag IS DISTINCT FROM 'Testing'::environment_tag)",
  "user_group (provided_id) WHERE (environment_tag IS DISTINCT FROM 'Customer'::environment_tag)",
  'user_group (token_hash)',
  'api_token (secret_hash)',
  'signing_key (id)',
];

/**
 * Makes sure that the unique indexes are there, by whatever names, on whose conflicts writes rely: without them, a get-or-create
 * would store a group twice, without an error. A restore creates them last.
 *
 * @throws Error that names what is missing, and the SQL that creates it.
 */
export async function requireUniqueIndexes({ pool }: Pick<Database, 'pool'>): Promise<void> {
  const { rows } = await pool.query<{ missing: string; remedy: string | null }>(
    `with present as (
       select relname, indisprimary, regexp_replace(pg_get_indexdef(indexrelid), '^.* USING btree ', relname || ' ') as definition
       from pg_index join pg_class on pg_class.oid = indrelid
       where indisunique and indisvalid and relnamespace = 'public'::regnamespace
     )
     select definition as missing, format('  create unique index on %s;', definition) as remedy from unnest($1::text[]) as definition
     where definition not in (select definition from present)
     union all
     select 'the primary key of ' || name, null from unnest($2::text[]) as name
     where name not in (select relname from present where indisprimary)`,
    [uniqueIndexes, usedTables],
  );
  if (rows.length === 0) return;
  throw new Error(
    `The database lacks unique indexes, so that a user group could be stored twice: ${rows.map(({ missing }) => missing).join('; ')}. ` +
      'If a restore was interrupted, restore it again into an empty database. If somebody removed them, create them as the owner of the tables:\n\n' +
      rows.map(({ missing, remedy }) => remedy ?? `  -- ${missing}, as the first start on an empty database makes it`).join('\n'),
  );
}
