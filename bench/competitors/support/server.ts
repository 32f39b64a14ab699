/** How every competitor is started, and how it reports that it is ready. */

/** The number of database connections of each system: as many as the gateway has. */
export const poolSize = 10;

/** The database that all systems share. */
export const databaseUrl = process.env['DATABASE_URL'] ?? '';

/** Logs the address of the server in the form of the gateway's log. */
export function announce(url: string): void {
  process.stderr.write(`listening on ${url}\n`);
}

/** The secret in `Authorization: Token <API_TOKEN>`; empty if there is none. */
export function secretOf(authorization: string | null | undefined): string {
  return authorization?.startsWith('Token ') ? authorization.slice(6) : '';
}
