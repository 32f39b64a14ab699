/** A `DATABASE_URL` that cannot be used; the message continues after the setting's name and contains no part of it. */
export class InvalidDatabaseUrl extends Error {}

/** The parameters that have an effect; the driver ignores a misspelled one, and would connect without encryption. */
const parameterNames: readonly string[] = [
  ...['host', 'user', 'password', 'options', 'application_name'],
  ...['sslmode', 'sslrootcert', 'sslcert', 'sslkey'],
];

/** What the driver knows; it takes any other one for `disable`. */
const sslModes: readonly string[] = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'];

const general =
  'must be a PostgreSQL URL such as postgresql://user:password@localhost:5432/gateway, with special characters percent-encoded (# as %23)';

const oneServer =
  'must name one server. Where there are several, name an endpoint that leads to the primary: HAProxy (deploy/haproxy), PgBouncer or a DNS name';

/** Reads the URL of one server. @throws InvalidDatabaseUrl */
export function parseDatabaseUrl(text: string): URL {
  const [url, authority = '', rest = ''] = /^postgres(?:ql)?:\/\/([^/?]*)(.*)$/is.exec(text.trim()) ?? [];
  if (authority.slice(authority.lastIndexOf('@') + 1).includes(',')) throw new InvalidDatabaseUrl(oneServer);
  // What is behind these characters may be a part of a password, which messages must not show.
  if (!url || !URL.canParse(url) || url.includes('#') || rest.includes('@')) throw new InvalidDatabaseUrl(general);
  const parsed = new URL(url);
  const problem = parameterProblem(parsed.searchParams);
  if (problem) throw new InvalidDatabaseUrl(problem);
  return parsed;
}

function parameterProblem(parameters: URLSearchParams): string | undefined {
  const names = [...parameters.keys()];
  if (parameters.get('host')?.includes(',')) return oneServer;
  const unknown = names.find((name) => !parameterNames.includes(name));
  if (unknown !== undefined)
    return `has the parameter ${unknown.slice(0, 40)}, which the gateway does not support; it supports ${parameterNames.join(', ')}`;
  const unclear = names.find((name, index) => names.indexOf(name) !== index || !parameters.get(name));
  if (unclear) return `has the parameter ${unclear} twice or without a value`;
  const isKnownMode = sslModes.includes(parameters.get('sslmode') ?? 'disable');
  return isKnownMode ? undefined : `has an sslmode that is none of ${sslModes.join(', ')}`;
}

/** The host, port and database of a valid URL, for messages. The driver prefers the parameter to the authority. */
export function describeServer(text: string): string {
  const { hostname, port, pathname, searchParams } = parseDatabaseUrl(text);
  return [searchParams.get('host') ?? hostname, port].filter((part) => part !== '').join(':') + pathname;
}

/** The names under which connections of the gateway are listed in `pg_stat_activity`. */
export const applicationNames = {
  /** Of a process's pool. */
  pool: 'user-group-gateway',
  /** Of the connection that is open as long as a process uses the bundled server. */
  presence: 'user-group-gateway-presence',
} as const;
