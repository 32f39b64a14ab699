import type pg from 'pg';

/** A setting that decides how a session writes times, and has another value than the gateway reads. */
interface Deviation {
  readonly role: string;
  readonly name: string;
  readonly value: string;
  readonly required: string;
}

/** What is wrong with the sessions of a server, and the SQL that corrects it. */
export interface SessionProblem {
  readonly found: string;
  readonly remedy: string;
}

/**
 * Finds out whether sessions of the role begin with times in UTC and ISO 8601, as Prisma and the driver read them. The gateway
 * sets both, which is enough on a direct connection and behind PgBouncer. Another pooler may run the next statement in another
 * session.
 *
 * @returns undefined if they do.
 */
export async function findSessionProblem(pool: pg.Pool): Promise<SessionProblem | undefined> {
  // `reset_val` is the value with which the session began, whatever was set since.
  const { rows } = await pool.query<Deviation>(
    `select quote_ident(current_user) as role, lower(name) as name, reset_val as value, required
     from pg_settings join (values ('TimeZone', 'UTC', '^(Etc/)?(UTC|UCT|GMT|Universal|Zulu)$'), ('DateStyle', 'ISO', '^ISO'))
       as expected (parameter, required, pattern) on parameter = name
     where reset_val !~ pattern order by parameter desc`,
  );
  if (rows.length === 0) return undefined;
  const values = rows.map(({ name, value }) => `${name} ${value}`).join(' and ');
  const statements = rows.map(({ role, name, required }) => `alter role ${role} set ${name} = '${required}';`);
  return {
    found: `sessions of the role begin with ${values}: behind a pooler other than PgBouncer, times may be wrong by hours`,
    remedy: `Run: ${statements.join(' ')}`,
  };
}
