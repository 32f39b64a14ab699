import type pg from 'pg';
import type { Database } from './client.ts';

/** What the gateway does with each table once the migrations are applied. */
const requiredPrivileges: Readonly<Record<string, readonly string[]>> = {
  user_group: ['select', 'insert', 'update', 'delete'],
  retired_token: ['select', 'insert', 'update', 'delete'],
  revoked_viewer: ['select', 'insert', 'update', 'delete'],
  api_token: ['select', 'insert', 'update'],
  retired_secret: ['select', 'insert', 'update'],
  event: ['select', 'insert', 'update', 'delete'],
  event_feed: ['select', 'update'],
  webhook: ['select', 'insert', 'update', 'delete'],
  webhook_delivery: ['select', 'insert', 'update', 'delete'],
  signing_key: ['select', 'insert', 'update', 'delete'],
  idempotency_record: ['select', 'insert', 'update', 'delete'],
  request_count: ['select', 'insert', 'update', 'delete'],
  _prisma_migrations: ['select'],
};

/** The sequences that number new rows. */
const usedSequences = ['user_group_team_id_seq', 'api_token_id_seq', 'event_id_seq', 'webhook_id_seq', 'webhook_delivery_id_seq'];

/** The extension that searches use: a trusted one, which any role may create that may create schemas in the database. */
const extension = 'pg_trgm';

/** What a role may create, and what it is for. */
interface Place {
  readonly role: string;
  readonly database: string;
  /** The schema where objects are created; null when the role may use none of its `search_path`. */
  readonly schema: string | null;
  readonly createsTables: boolean | null;
  readonly createsExtension: boolean;
  /** Whether the server has the files of the extension. */
  readonly hasExtension: boolean;
}

/**
 * Makes sure that the role may create what the migrations create.
 *
 * @throws Error that names the missing right, what needs it, and the SQL that grants it.
 */
export async function requireCreatePrivileges(client: pg.ClientBase | pg.Pool, migration: string): Promise<void> {
  const { rows } = await client.query<Place>(
    `select quote_ident(current_user) as role, quote_ident(current_database()) as database,
       quote_ident(current_schema()) as schema, has_schema_privilege(current_schema(), 'create') as "createsTables",
       exists (select from pg_extension where extname = $1)
         or has_database_privilege(current_database(), 'create') as "createsExtension",
       exists (select from pg_available_extensions where name = $1) as "hasExtension"`,
    [extension],
  );
  const [place] = rows;
  if (!place) return;
  if (!place.hasExtension) {
    throw new Error(
      `The database server lacks the extension ${extension}, which the migration ${migration} requires. It is a part of ` +
        'PostgreSQL; install the package of the additional modules on the server (often named postgresql-contrib).',
    );
  }
  const missing = missingCreations(place);
  if (missing.length === 0) return;
  const { role, database } = place;
  throw new Error(
    `The role ${role} lacks the privilege to create ${missing.map(({ what }) => what).join(', and ')} (database ${database}), ` +
      `which the migration ${migration} requires. As the owner of the database or a superuser, run there:\n\n` +
      `${missing.map(({ grant }) => `  ${grant}\n`).join('')}\n` +
      'Or apply the migrations as a role that has the privilege: set DATABASE_URL to that role for one run of the command "migrate".',
  );
}

function missingCreations({ role, database, schema, createsTables, createsExtension }: Place): { what: string; grant: string }[] {
  const where = schema ? `the schema ${schema}` : 'any schema of its search_path';
  const tables = {
    what: `tables and types in ${where}`,
    grant: `grant usage, create on schema ${schema ?? 'public'} to ${role};`,
  };
  const extensions = { what: `the extension ${extension}`, grant: `grant create on database ${database} to ${role};` };
  return [...(createsTables ? [] : [tables]), ...(createsExtension ? [] : [extensions])];
}

/**
 * Makes sure that the role may do what requests need.
 *
 * @throws Error that names every missing right and the SQL that grants them.
 */
export async function requirePrivileges({ pool }: Database): Promise<void> {
  const asked = [
    ...Object.entries(requiredPrivileges).flatMap(([table, rights]) => rights.map((right) => ['table', table, right])),
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
