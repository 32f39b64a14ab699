/** Which servers are acceptable: `read-write` takes writes by default, `primary` is not a standby but may be set to read-only. */
export type TargetSession = 'read-write' | 'primary';

/** The parts of a `DATABASE_URL`. `pg` reads only those of a single host. */
export interface DatabaseUrl {
  /** The same URL for each of its hosts alone. The user, the database and the options are the same for all. */
  readonly serverUrls: readonly string[];
  /**
   * By default `read-write` with several hosts. With one there is no other server to look for, and reads continue while it is
   * read-only.
   */
  readonly target: TargetSession;
  /** How long to wait for a connection to one of several hosts. */
  readonly connectTimeoutMs: number;
}

/** A `DATABASE_URL` that cannot be used; the message continues after the setting's name and contains no secret. */
export class InvalidDatabaseUrl extends Error {}

/** The most hosts of a URL. */
export const maxHosts = 8;

/** The parameters that take effect: those of the driver, and two that the gateway reads. The driver ignores every other one. */
const parameterNames: readonly string[] = [
  ...['host', 'port', 'user', 'password', 'options', 'application_name'],
  ...['ssl', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'sslnegotiation', 'uselibpqcompat'],
  ...['target_session_attrs', 'connect_timeout'],
];

/** The values of those of which the driver ignores every other one. */
const parameterValues: ReadonlyMap<string, readonly string[]> = new Map([
  ['sslmode', ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify']],
  ['ssl', ['true', '1', '0', 'no-verify']],
  ['sslnegotiation', ['postgres', 'direct']],
  ['uselibpqcompat', ['true', 'false']],
]);

const defaultConnectTimeoutSeconds = 2;
const maxConnectTimeoutSeconds = 4;

const general =
  'must be a PostgreSQL URL such as postgresql://user:password@localhost:5432/gateway, or with several hosts ' +
  'postgresql://user:password@db1:5432,db2:5432/gateway, with special characters percent-encoded (# as %23)';

/**
 * Reads a URL as libpq does: `postgresql://user:password@host1:5432,[::1]:5433/database?target_session_attrs=read-write`. A host
 * without a port has port 5432.
 *
 * @throws InvalidDatabaseUrl
 */
export function parseDatabaseUrl(text: string): DatabaseUrl {
  const [, scheme, authority = '', rest = ''] = /^(postgres(?:ql)?:\/\/)([^/?]*)(.*)$/is.exec(text.trim()) ?? [];
  if (!scheme || text.includes('#')) throw new InvalidDatabaseUrl(general);
  const afterUser = authority.lastIndexOf('@') + 1;
  const hosts = authority.slice(afterUser).split(',', maxHosts + 1);
  if (hosts.length > maxHosts) throw new InvalidDatabaseUrl(`must name at most ${maxHosts} hosts`);
  const serverUrls = hosts.map((host) => `${scheme}${authority.slice(0, afterUser)}${host}${rest}`);
  const isValid =
    serverUrls.every((url) => URL.canParse(url)) && (hosts.length === 1 || hosts.every((host) => /^[^:]/.test(host)));
  if (!isValid) throw new InvalidDatabaseUrl(general);
  const { searchParams } = new URL(serverUrls[0] as string);
  const isList = (name: string) => (hosts.length > 1 ? searchParams.has(name) : searchParams.get(name)?.includes(','));
  if (['host', 'port'].some(isList)) {
    throw new InvalidDatabaseUrl('must name several hosts before the database (db1:5432,db2:5432), not as parameters');
  }
  const target = targetOf(searchParams, hosts.length);
  const connectTimeoutMs = connectTimeoutOf(searchParams);
  const problem = parameterProblem(searchParams);
  // With an @ behind it, the question mark may belong to a password, and what follows must not be shown.
  if (problem) throw new InvalidDatabaseUrl(rest.includes('@') ? general : problem);
  return { serverUrls, target, connectTimeoutMs };
}

/**
 * What is wrong with a parameter that would have no effect, such as a misspelled `sslmode`: a connection without encryption, or
 * one to a server that is not the expected one. Values are not shown: one could be a part of a password.
 */
function parameterProblem(parameters: URLSearchParams): string | undefined {
  const names = [...parameters.keys()];
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

function targetOf(parameters: URLSearchParams, hostCount: number): TargetSession {
  const target = parameters.get('target_session_attrs') ?? (hostCount > 1 ? 'read-write' : 'primary');
  if (target === 'read-write' || target === 'primary') return target;
  throw new InvalidDatabaseUrl(
    'must have target_session_attrs read-write or primary: a standby takes no writes, and may still accept a revoked API token',
  );
}

function connectTimeoutOf(parameters: URLSearchParams): number {
  const text = parameters.get('connect_timeout') ?? String(defaultConnectTimeoutSeconds);
  const seconds = /^\d{1,2}$/.test(text) ? Number(text) : 0;
  if (seconds >= 1 && seconds <= maxConnectTimeoutSeconds) return seconds * 1_000;
  throw new InvalidDatabaseUrl(`must have a connect_timeout from 1 to ${maxConnectTimeoutSeconds} seconds`);
}

/** A URL of one server with further command-line options of the server, after its own. */
export function withOptions(serverUrl: string, options: string): string {
  if (options === '') return serverUrl;
  const url = new URL(serverUrl);
  url.searchParams.set('options', `${url.searchParams.get('options') ?? ''} ${options}`);
  return url.href;
}

/** The hosts, ports and database of a valid URL, for messages. */
export function describeServers(text: string): string {
  const urls = parseDatabaseUrl(text).serverUrls.map((url) => new URL(url));
  return `${urls.map(describeServer).join(',')}${urls[0]?.pathname}`;
}

/** As the driver reads it, for which parameters count more than the authority. */
function describeServer({ hostname, port, searchParams }: URL): string {
  return [searchParams.get('host') ?? hostname, searchParams.get('port') ?? port].filter((part) => part !== '').join(':');
}

/** The names under which connections of the gateway are listed in `pg_stat_activity`. */
export const applicationNames = {
  /** Of a process's pool. */
  pool: 'user-group-gateway',
  /** Begins the name of a connection that is open as long as a process uses the bundled server; its own name follows. */
  presencePrefix: 'user-group-gateway-presence-',
  /** Of connections that look for the server that takes writes. */
  failover: 'user-group-gateway-failover',
  /** Of the connection of a backup. */
  backup: 'user-group-gateway-backup',
} as const;
