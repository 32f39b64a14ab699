/** A `DATABASE_URL` that cannot be used; the message continues after the setting's name and contains no secret. */
export class InvalidDatabaseUrl extends Error {}

/** The parameters of the driver. It ignores every other one. */
const parameterNames: readonly string[] = [
  ...['host', 'port', 'user', 'password', 'options', 'application_name'],
  ...['ssl', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'sslnegotiation', 'uselibpqcompat'],
];

/** The values of those of which the driver ignores every other one. */
const parameterValues: ReadonlyMap<string, readonly string[]> = new Map([
  ['sslmode', ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify']],
  ['ssl', ['true', '1', '0', 'no-verify']],
  ['sslnegotiation', ['postgres', 'direct']],
  ['uselibpqcompat', ['true', 'false']],
]);

const general =
  'must be a PostgreSQL URL such as postgresql://user:password@localhost:5432/gateway, with special characters percent-encoded (# as %23)';

const oneServer =
  'must name one server. Where there are several, name an endpoint that leads to the primary: HAProxy (deploy/haproxy), PgBouncer or a DNS name';

/** Parameters of libpq that choose among several servers. */
const choosing: readonly string[] = ['target_session_attrs', 'load_balance_hosts'];

/** Reads the URL of one server. @throws InvalidDatabaseUrl */
export function parseDatabaseUrl(text: string): URL {
  const [url, authority = '', rest = ''] = /^postgres(?:ql)?:\/\/([^/?]*)(.*)$/is.exec(text.trim()) ?? [];
  if (!url || text.includes('#')) throw new InvalidDatabaseUrl(general);
  if (authority.slice(authority.lastIndexOf('@') + 1).includes(',')) throw new InvalidDatabaseUrl(oneServer);
  if (!URL.canParse(url)) throw new InvalidDatabaseUrl(general);
  const parsed = new URL(url);
  const problem = parameterProblem(parsed.searchParams);
  // With an @ behind it, the question mark may belong to a password, and what follows must not be shown.
  if (problem) throw new InvalidDatabaseUrl(rest.includes('@') ? general : problem);
  return parsed;
}

/**
 * What is wrong with a parameter that would have no effect, such as a misspelled `sslmode`: a connection without encryption, or
 * one to a server that is not the expected one. Values are not shown: one could be a part of a password.
 */
function parameterProblem(parameters: URLSearchParams): string | undefined {
  const names = [...parameters.keys()];
  const isList = (name: string) => parameters.get(name)?.includes(',');
  if (names.some((name) => choosing.includes(name)) || ['host', 'port'].some(isList)) return oneServer;
  const unknown = names.find((name) => !parameterNames.includes(name));
  if (unknown !== undefined)
    return `has the parameter ${unknown.slice(0, 40)}, which the gateway does not support; it supports ${parameterNames.join(', ')}`;
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated) return `has the parameter ${repeated} twice`;
  const empty = names.find((name) => parameters.get(name) === '');
  if (empty) return `has the parameter ${empty} without a value`;
  const misspelled = names.find((name) => parameterValues.get(name)?.includes(parameters.get(name) ?? '') === false);
  if (misspelled) return `has a ${misspelled} that is none of ${parameterValues.get(misspelled)?.join(', ')}`;
  const port = parameters.get('port') ?? '1';
  if (!/^\d{1,5}$/.test(port) || Number(port) < 1 || Number(port) > 65_535)
    return 'has a port that is not a number from 1 to 65535';
  return parameters.has('ssl') && parameters.has('sslmode') ? 'has ssl and sslmode; give it one of them' : undefined;
}

/** A URL with further command-line options of the server, after its own. */
export function withOptions(url: URL, options: string): string {
  const extended = new URL(url);
  if (options !== '') extended.searchParams.set('options', `${url.searchParams.get('options') ?? ''} ${options}`);
  return extended.href;
}

/** The host, port and database of a valid URL, for messages. The driver prefers parameters to the authority. */
export function describeServer(text: string): string {
  const { hostname, port, pathname, searchParams } = parseDatabaseUrl(text);
  const place = [searchParams.get('host') ?? hostname, searchParams.get('port') ?? port].filter((part) => part !== '');
  return place.join(':') + pathname;
}

/** The names under which connections of the gateway are listed in `pg_stat_activity`. */
export const applicationNames = {
  /** Of a process's pool. */
  pool: 'user-group-gateway',
  /** Of the connection that is open as long as a process uses the bundled server. */
  presence: 'user-group-gateway-presence',
} as const;
