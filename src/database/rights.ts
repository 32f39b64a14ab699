import type pg from 'pg';
import type { Database } from './client.ts';

/** What the gateway does with each table once the migrations are applied. */
const usedRights: Readonly<Record<string, readonly string[]>> = {
  user_group: ['select', 'insert', 'update'],
  retired_token: ['select', 'insert', 'delete'],
  api_token: ['select', 'insert', 'update'],
  _prisma_migrations: ['select'],
};

/** The sequences that number new rows. */
const usedSequences = ['user_group_team_id_seq', 'api_token_id_seq'];

/**
 * Makes sure that the role may create what a migration creates.
 *
 * @throws Error that names the missing right, what needs it, and the SQL that grants it.
 */
export async function requireCreation(client: pg.ClientBase, migration: string): Promise<void> {
  const { rows } = await client.query<{ role: string; database: string; schema: string | null; may: boolean | null }>(
    `select quote_ident(current_user) as role, quote_ident(current_database()) as database,
       quote_ident(current_schema()) as schema, has_schema_privilege(current_schema(), 'create') as may`,
  );
  const [place] = rows;
  if (!place || place.may) return;
  const { role, database, schema } = place;
  const where = schema ? `the schema ${schema}` : 'any schema of its search_path';
  throw new Error(
    `The role ${role} lacks the privilege to create tables and types in ${where} (database ${database}), which the migration ` +
      `${migration} requires. As the owner of the database or a superuser, run there:\n\n` +
      `  grant usage, create on schema ${schema ?? 'public'} to ${role};\n\n` +
      'Or apply the migrations as a role that has the privilege: set DATABASE_URL to that role for one run of the command "migrate".',
  );
}

/**
 * Makes sure that the role may do what requests need.
 *
 * @throws Error that names every missing right and the SQL that grants them.
 */
export async function requireUse({ pool }: Pick<Database, 'pool'>): Promise<void> {
  const asked = [
    ...Object.entries(usedRights).flatMap(([table, rights]) => rights.map((right) => ['table', table, right])),
    ...usedSequences.map((sequence) => ['sequence', sequence, 'usage']),
  ];
  const { rows } = await pool.query<{ role: string; database: string; missing: string }>(
    `select quote_ident(current_user) as role, quote_ident(current_database()) as database,
       string_agg(action, ', ' order by number) || ' on ' || kind || ' ' || name as missing
     from unnest($1::text[], $2::text[], $3::text[]) with ordinality as asked (kind, name, action, number)
     where not case kind when 'table' then has_table_privilege(name, action) else has_sequence_privilege(name, action) end
     group by kind, name order by min(number)`,
    [0, 1, 2].map((column) => asked.map((each) => each[column])),
  );
  const [first] = rows;
  if (!first) return;
  const { role, database } = first;
  throw new Error(
    `The role ${role} lacks privileges in the database ${database} that the gateway requires: ` +
      `${rows.map(({ missing }) => missing).join('; ')}. As the owner of the tables or a superuser, run there:\n\n` +
      rows.map(({ missing }) => `  grant ${missing} to ${role};`).join('\n'),
  );
}
