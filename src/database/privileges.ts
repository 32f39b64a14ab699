import type pg from 'pg';
import type { Database } from './client.ts';

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
