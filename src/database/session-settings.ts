import type pg from 'pg';
import type { SessionProblem } from './server-state.ts';

/** Settings with the value that the gateway needs, a pattern of those that do, and what others lead to; always, or by `namedStatements`. */
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
