import type pg from 'pg';
import type { SessionProblem } from './server-state.ts';

/** A setting of sessions that has another value than the gateway needs. */
interface Deviation {
  readonly role: string;
  readonly name: string;
  readonly value: string;
  readonly required: string;
  readonly consequence: string;
}

/** Settings with the value that the gateway needs, a pattern of those that do, and what others lead to. */
const timeouts = `
  ('statement_timeout', '10s', '^([1-9]\\d{0,3}|10000)$', 'writes may be made after their 503'),
  ('lock_timeout', '4s', '^([1-9]\\d{0,2}|[1-3]\\d{3}|4000)$', 'writes may be made after their 503')`;

/** As Prisma and the driver read times. */
const times = `
  ('TimeZone', 'UTC', '^(Etc/)?(UTC|UCT|GMT|Universal|Zulu)$', 'times may be wrong by hours'),
  ('DateStyle', 'ISO', '^ISO', 'times may be wrong by hours')`;

/** For plans that were made for small tables. */
const plans = `
  ('enable_seqscan', 'off', '^off$', 'look-ups may read whole tables'), ('jit', 'off', '^off$', 'statements may be delayed by compilation')`;

/**
 * Finds out whether sessions of the role begin with what the gateway cannot set behind a pooler. It sends the timeouts, and with
 * named statements what plans need, which a pooler may ignore. It sets the times, which is enough on a direct connection and
 * behind PgBouncer; another pooler may run the next statement in another session.
 *
 * @returns undefined if they do.
 */
export async function findSessionProblem(pool: pg.Pool, namedStatements: boolean): Promise<SessionProblem | undefined> {
  // `reset_val` is the value with which the session began, whatever was set since.
  const { rows } = await pool.query<Deviation>(
    `select quote_ident(current_user) as role, lower(name) as name, reset_val as value, required, consequence
     from pg_settings join (values ${timeouts}, ${namedStatements ? plans : times})
       as expected (parameter, required, pattern, consequence) on parameter = name
     where reset_val !~ pattern order by parameter desc`,
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
