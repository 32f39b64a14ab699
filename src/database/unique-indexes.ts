import type { Database } from './client.ts';
import { usedTables } from './privileges.ts';

/**
 * The unique indexes besides primary keys, by their names, as PostgreSQL prints them, without quotes: without one, two rows could
 * have one id or secret. By the names of the first two, errors say which id is taken; those of the others do not matter.
 */
const uniqueIndexes = {
  user_group_provided_id_customer_key:
    "user_group (provided_id) WHERE (environment_tag IS DISTINCT FROM 'Testing'::environment_tag)",
  user_group_provided_id_testing_key:
    "user_group (provided_id) WHERE (environment_tag IS DISTINCT FROM 'Customer'::environment_tag)",
  user_group_token_hash_key: 'user_group (token_hash)',
  api_token_secret_hash_key: 'api_token (secret_hash)',
  signing_key_id_key: 'signing_key (id)',
};

/**
 * Makes sure that the unique indexes are there on whose conflicts, and names, writes rely: without them, a get-or-create would
 * store a group twice, without an error. A restore creates them last.
 *
 * @throws Error that names what is missing, and the SQL that creates it.
 */
export async function requireUniqueIndexes(database: Pick<Database, 'pool'>): Promise<void> {
  const missing = await describeMissingIndexes(database);
  if (missing !== undefined) throw new Error(missing);
}

/** What {@link requireUniqueIndexes} says of a database; undefined if nothing is missing. */
export async function describeMissingIndexes({ pool }: Pick<Database, 'pool'>): Promise<string | undefined> {
  const { rows } = await pool.query<{ missing: string; remedy: string }>(
    `with present as (
       select own.relname as name, indexed.relname as "table", indisprimary, indexed.relname || regexp_replace(
         regexp_replace(translate(pg_get_indexdef(indexrelid), '"', ''), '^.* USING btree', ''), ' WITH \\([^)]*\\)', '') as definition
       from pg_index join pg_class own on own.oid = indexrelid join pg_class indexed on indexed.oid = indrelid
       where indisunique and indisvalid and indimmediate and indexed.relnamespace = 'public'::regnamespace
     )
     select name as missing,
       format(E'\\n  drop index if exists %1$s; create unique index %1$s on %2$s;', name, definition) as remedy
     from unnest($1::text[], $2::text[]) as expected (name, definition)
     where not exists (select from present where present.definition = expected.definition
       and (present.name = expected.name or expected.name not like '%provided_id%'))
     union all
     select 'the primary key of ' || name, '' from unnest($3::text[]) as name
     where name not in (select "table" from present where indisprimary)`,
    [Object.keys(uniqueIndexes), Object.values(uniqueIndexes), usedTables],
  );
  if (rows.length === 0) return undefined;
  return (
    `The database lacks unique indexes, so that a user group could be stored twice: ${rows.map(({ missing }) => missing).join('; ')}. ` +
    'If a restore was interrupted, restore it again into an empty database. If somebody removed them, create them as the owner of ' +
    `the tables, primary keys as in a new database.\n${rows.map(({ remedy }) => remedy).join('')}`
  );
}
