import type pg from 'pg';
import type { Database } from './client.ts';

/** What is wrong with a database or its sessions, and what corrects it. */
export interface SessionProblem {
  readonly found: string;
  readonly remedy: string;
}

/**
 * Finds out whether a database can store every text, and whether its sessions find tables in the schema `public`, which Prisma
 * names in its statements.
 */
export async function findDatabaseProblem(pool: pg.Pool): Promise<SessionProblem | undefined> {
  const { rows } = await pool.query<SessionProblem>(
    `select format('The database %I has the encoding %s, and the gateway needs UTF8', current_database(), encoding) as found,
       'Create another one: create database NAME encoding ''UTF8'' locale ''C.UTF-8'' template template0; and set DATABASE_URL to it.' as remedy
     from current_setting('server_encoding') as encoding where encoding <> 'UTF8'
     union all
     select format('The schema %I comes first in the search_path of the role %I, and the tables of the gateway must be in public', current_schema(), current_user),
       format('Run: alter role %I in database %I set search_path = public;', current_user, current_database())
     where current_schema() <> 'public'`,
  );
  return rows[0];
}

/** Settings with the value needed, a pattern of those that do, and what others lead to; always or by `namedStatements`. */
const expected = `
  ('statement_timeout', '10s', '^([1-9]\\d{0,3}|10000)$', 'writes may be made after their 503', null),
  ('lock_timeout', '4s', '^([1-9]\\d{0,2}|[1-3]\\d{3}|4000)$', 'writes may be made after their 503', null),
  ('TimeZone', 'UTC', '^(Etc/)?(UTC|UCT|GMT|Universal|Zulu)$', 'times may be wrong by hours', false),
  ('DateStyle', 'ISO', '^ISO', 'times may be wrong by hours', false),
  ('enable_seqscan', 'off', '^off$', 'look-ups may read whole tables', true),
  ('jit', 'off', '^off$', 'statements may be delayed by compilation', true)`;

/**
 * Finds out whether sessions of the role begin with what the gateway cannot set behind a pooler. It sends the timeouts, and with
 * named statements what plans need, which a pooler may ignore. It sets the times, which is enough on a direct connection and
 * behind PgBouncer; another pooler may run the next statement in another session.
 *
 * @returns undefined if they do.
 */
export async function findSessionProblem(pool: pg.Pool, namedStatements: boolean): Promise<SessionProblem | undefined> {
  // `reset_val` is the value with which the session began, whatever was set since.
  const { rows } = await pool.query<Record<'role' | 'name' | 'value' | 'required' | 'consequence', string>>(
    `select quote_ident(current_user) as role, lower(name) as name, reset_val as value, required, consequence
     from pg_settings join (values ${expected}) as expected (parameter, required, pattern, consequence, is_named) on parameter = name
     where reset_val !~ pattern and coalesce(is_named = $1, true) order by parameter desc`,
    [namedStatements],
  );
  if (rows.length === 0) return undefined;
  const values = rows.map(({ name, value }) => `${name} ${value}`).join(' and ');
  const consequences = [...new Set(rows.map(({ consequence }) => consequence))].join(' and ');
  const statements = rows.map(({ role, name, required }) => `alter role ${role} set ${name} = '${required}';`);
  return {
    found: `sessions of the role begin with ${values}: behind a pooler, ${consequences}`,
    remedy: `Run: ${statements.join(' ')}`,
  };
}

const tables = [
  '_prisma_migrations',
  'api_token',
  'event',
  'event_feed',
  'idempotency_record',
  'request_count',
  'retired_secret',
  'retired_token',
  'revoked_viewer',
  'signing_key',
  'user_group',
  'webhook',
  'webhook_delivery',
];

/** The extension that searches use. */
const extension = 'pg_trgm';

/**
 * Makes sure that the role may create what the migrations create.
 *
 * @throws Error with the SQL that grants what is missing.
 */
export async function requireCreatePrivileges(client: pg.ClientBase | pg.Pool, migration: string): Promise<void> {
  const { rows } = await client.query<{ grant: string }>(
    `select format('grant usage, create on schema public to %I;', current_user) as grant
       where not has_schema_privilege('public', 'usage') or not has_schema_privilege('public', 'create')
     union all
     select format('grant create on database %I to %I;', current_database(), current_user)
       where not has_database_privilege(current_database(), 'create') and not exists (select from pg_extension where extname = $1)`,
    [extension],
  );
  if (rows.length > 0) throw lacksPrivileges(`may not create what the migration ${migration} creates`, rows);
}

/**
 * Makes sure that the role may do what requests need.
 *
 * @throws Error with the SQL that grants what is missing.
 */
export async function requirePrivileges({ pool }: Database): Promise<void> {
  const { rows } = await pool.query<{ grant: string }>(
    `select format('grant %s on %s %I to %I;', string_agg(privilege, ', ' order by privilege desc), kind, relname, current_user) as grant
     from pg_class
       cross join lateral (values ('table', 'select'), ('table', 'insert'), ('table', 'update'), ('table', 'delete'), ('sequence', 'usage'))
         as needed (kind, privilege)
     where relnamespace = 'public'::regnamespace and relname ~ $1 and (relname <> '_prisma_migrations' or privilege = 'select')
       and case when relkind = 'r' and kind = 'table' then not has_table_privilege(oid, privilege)
         when relkind = 'S' and kind = 'sequence' then not has_sequence_privilege(oid, privilege) else false end
     group by kind, relname order by kind desc, relname`,
    [`^(${tables.join('|')})(_id_seq|_team_id_seq)?$`],
  );
  if (rows.length > 0) throw lacksPrivileges('lacks privileges that the gateway needs', rows);
}

const lacksPrivileges = (problem: string, rows: readonly { readonly grant: string }[]): Error =>
  new Error(
    `The role of the database ${problem}. As the owner of the database or a superuser, run there:\n\n` +
      `${rows.map(({ grant }) => `  ${grant}`).join('\n')}\n`,
  );
