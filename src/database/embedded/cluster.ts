import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { syncFolder } from '../durable-file.ts';
import type { Binaries } from './binaries.ts';
import { freePort, isFree } from './free-port.ts';
import { findLayout, keyFileName, type Layout, requireUsable, restoreDraftName, UncertainDatabase } from './layout.ts';
import { draftPassword, passwordFileName, publishPassword } from './password.ts';
import { isPostmaster, removeOldSockets, removeStaleLocks, runningPostmaster, socketSettings } from './server-lock.ts';

/** The superuser, which also owns the gateway's database. */
export const superuser = 'gateway';

/** What to do where no database is, besides correcting the settings. */
export const creationRemedy = 'To begin with an empty one, start the gateway, or run the command migrate.';

/**
 * The major version of the server that created a data directory; undefined if there is none.
 *
 * @throws UncertainDatabase when it cannot be read: that is not the same as none.
 */
export function readMajor({ cluster }: Layout): string | undefined {
  const file = join(cluster, 'PG_VERSION');
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (['ENOENT', 'ENOTDIR'].includes(code)) return undefined;
    throw new UncertainDatabase(
      `The database in ${cluster} cannot be read (${code}: ${file})`,
      'The command doctor says how to repair owners and modes. For any other reason, restore a backup into another DATA_DIR.',
    );
  }
}

/** Makes sure that there is a data directory. Creates nothing. @throws Error when there is none, or it cannot be used. */
export function requireCluster(dataDir: string): void {
  const layout = findLayout(dataDir);
  if (layout) {
    requireUsable(dataDir);
    if (readMajor(layout) !== undefined) return;
    requireNew(layout);
  }
  throw new Error(
    `There is no database in ${resolve(dataDir)}. Set DATA_DIR to the folder that the gateway uses. ${creationRemedy}`,
  );
}

/**
 * Creates the data directory if it does not exist. Of several processes that try concurrently, one succeeds and the others
 * use the result.
 *
 * @throws Error when `initdb` fails, a restore was not completed, there was one before, or the data directory was
 *   created by another major version.
 */
export async function createCluster(layout: Layout, binaries: Binaries): Promise<void> {
  if (readMajor(layout) === undefined) {
    requireNew(layout);
    await initialize(layout, binaries);
  }
  publishPassword(layout);
  const version = readMajor(layout);
  if (version !== binaries.major) {
    throw new Error(
      `The data in ${layout.cluster} was created by PostgreSQL ${version}, and this gateway bundles PostgreSQL ${binaries.major}. ` +
        `Start it with the gateway version that created it, dump the database with pg_dump ${version}, and restore the dump into a new DATA_DIR.`,
    );
  }
}

/** An empty database in the place of one that is being restored, or is lost, would look like it. */
function requireNew(layout: Layout): void {
  const lost = findLoss(layout);
  if (lost) throw lost;
}

/** Says that a database is being restored, or is gone: these files are created once there is one. */
export function findLoss(layout: Layout): UncertainDatabase | undefined {
  const draft = join(layout.dataDir, restoreDraftName);
  const left = [draft, ...[keyFileName, passwordFileName].map((name) => join(layout.dataDir, name))].filter(existsSync);
  // In this order: another process may be creating both.
  if (left.length === 0 || readMajor(layout) !== undefined) return undefined;
  if (left[0] === draft)
    return new UncertainDatabase(
      `${draft} exists: a backup is being restored to this DATA_DIR, or the restore was killed`,
      'Wait until it has finished. If none runs, delete the folder and restore the backup again, or begin with an empty database.',
    );
  return new UncertainDatabase(
    `${layout.dataDir} has secrets of a database, but no database`,
    `Mount the disk with the data, or restore a backup. To begin with an empty database, move ${left.join(' and ')} elsewhere.`,
  );
}

async function initialize(layout: Layout, binaries: Binaries): Promise<void> {
  const draft = `${layout.cluster}.${process.pid}`;
  rmSync(draft, { recursive: true, force: true }); // left by a killed process with the same pid
  try {
    await runInitdb(layout, binaries, draft, draftPassword(layout));
    renameSync(draft, layout.cluster); // atomic: there is never an incomplete data directory
    syncFolder(layout.home); // before the password has its place
  } catch (error) {
    if (readMajor(layout) !== undefined) return; // another process created it first
    if (!existsSync(layout.cluster)) throw error;
    throw new Error(
      `${layout.cluster} is not a data directory of PostgreSQL, and cannot be made one: ${(error as Error).message}. ` +
        'If it is a mount point, mount the disk as DATA_DIR instead.',
      { cause: error },
    );
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/**
 * Creates the files of a new data directory.
 *
 * @param folder must not exist; it may be incomplete when this fails.
 * @throws Error when `initdb` fails.
 */
export async function runInitdb(layout: Layout, binaries: Binaries, folder: string, password: string): Promise<void> {
  const passwordFile = `${folder}.password`;
  mkdirSync(folder, { mode: 0o700 });
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (layout.user) for (const path of [folder, passwordFile]) chownSync(path, layout.user.uid, layout.user.gid);
  try {
    await execute(layout, binaries.initdb, [
      '-D',
      folder,
      '-U',
      superuser,
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--locale=C',
      '--set',
      'listen_addresses=127.0.0.1',
      '--set',
      'unix_socket_directories=',
    ]);
  } finally {
    rmSync(passwordFile, { force: true });
  }
}

/**
 * The size of the server's cache: a quarter of the memory that this process may use, at most 1 GiB, which holds a million
 * groups with their indexes. Keeps the default of initdb (128 MiB) if that is larger. Pages are allocated as they fill.
 */
function cacheSetting(): string[] {
  const bytes = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
  const mebibytes = Math.min(1_024, Math.floor(bytes / 4 / 2 ** 20));
  return mebibytes > 128 ? [`shared_buffers=${mebibytes}MB`] : [];
}

/** How many ports are tried, because another program may use a free one before the server does. */
const maxPorts = 3;

/**
 * Starts the server and waits until it accepts connections.
 *
 * @param port the port, or a function that finds a free one and is called again if that was not free any more; by default the
 *   system chooses.
 * @throws Error with the end of the server's log.
 */
export async function startServer(
  layout: Layout,
  binaries: Binaries,
  options: string[],
  port: number | (() => Promise<number>) = () => freePort(),
): Promise<void> {
  await removeStaleLocks(layout);
  // Has statistics a second after a table has grown, so that statements get plans for the larger table.
  const own = ['autovacuum_naptime=1s', ...cacheSetting(), ...socketSettings];
  const given = [...own, ...options].map((option) => `-c ${option}`);
  const log = logFile(layout);
  for (let ports = 1; ; ports += 1) {
    const chosen = typeof port === 'number' ? port : await port();
    const logBytes = logSize(layout);
    const settings = [`-p ${chosen}`, ...given].join(' ');
    try {
      await execute(layout, binaries.pgCtl, ['start', '-w', '-t', '60', '-D', layout.cluster, '-l', log, '-o', settings]);
      return removeOldSockets(layout, chosen);
    } catch (cause) {
      if (typeof port !== 'number' && ports < maxPorts && !(await isFree(chosen))) continue;
      // Without a new line in it, what kept the server from starting kept it from writing there as well.
      const last = logSize(layout) === logBytes ? (cause as Error).message : describeEndOfLog(layout);
      throw new Error(`The embedded PostgreSQL did not start. ${last}`, { cause });
    }
  }
}

const logFile = (layout: Layout): string => join(layout.cluster, 'postgres.log');

/** How many bytes the server's log has; 0 if there is none. */
const logSize = (layout: Layout): number => statSync(logFile(layout), { throwIfNoEntry: false })?.size ?? 0;

/** The last lines of the server's log. */
function describeEndOfLog(layout: Layout): string {
  return `The end of ${logFile(layout)}:\n${readLog(layout).slice(-5).join('\n')}`;
}

/** What the server's log says about why it ended; every line of it if none does. */
export function describeFatalErrors(layout: Layout): string {
  const lines = readLog(layout);
  const fatal = lines.filter((line) => /(?:FATAL|PANIC|HINT|DETAIL): /.test(line));
  return (fatal.length > 0 ? fatal : lines).slice(-5).join('\n');
}

function readLog(layout: Layout): string[] {
  const file = logFile(layout);
  return existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
}

/**
 * Stops the server: closes connections and writes everything to disk. Does nothing if no server is running.
 *
 * @param fastMs how long that may take. Then the server ends at once, and recovers at its next start: PostgreSQL never completes
 *   the stop that is requested while it recovers from the crash of one of its processes.
 * @throws Error when it runs nevertheless.
 */
export async function stopServer(layout: Layout, binaries: Binaries, fastMs = 60_000): Promise<void> {
  const running = runningPostmaster(layout);
  if (!running) return;
  const { pid } = running;
  for (const [mode, patienceMs] of [
    ['fast', fastMs],
    ['immediate', 10_000],
  ] as const) {
    // -W, no waiting: pg_ctl would mistake a server that another process starts in the meantime for the one to stop.
    const stop = () => execute(layout, binaries.pgCtl, ['stop', '-m', mode, '-W', '-D', layout.cluster]);
    // Twice: a signal of the terminal ends it as long as it has not left the process group.
    await stop()
      .catch(stop)
      .catch((error: unknown) => {
        if (isPostmaster(pid, layout)) throw error;
      });
    for (const deadline = Date.now() + patienceMs; Date.now() < deadline; await sleep(20)) if (!isPostmaster(pid, layout)) return;
  }
  throw new Error(`The embedded PostgreSQL (process ${pid}) did not stop.`);
}

/**
 * Runs a PostgreSQL program as PostgreSQL's user, without this process's environment, which may have settings for other programs.
 * In a process group of its own: it completes what it does when the terminal sends a signal to the group of this process.
 */
async function execute(layout: Layout, program: string, args: string[]): Promise<void> {
  const env = { PATH: process.env['PATH'], SystemRoot: process.env['SystemRoot'], LC_ALL: 'C' };
  const detached = process.platform !== 'win32'; // where it would open a window
  const options = { cwd: layout.home, env, detached, windowsHide: true, ...layout.user };
  try {
    const child = spawn(program, args, { ...options, stdio: ['ignore', 'ignore', 'pipe'] });
    const closed = once(child, 'close');
    let text = '';
    // Without it if the program could not be started.
    child.stderr?.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    const [status, signal] = await closed;
    if (status !== 0) throw new Error(text.trim() || `It ended with ${status ?? signal}.`);
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const reason = code === 'ENOENT' ? 'It cannot run on this system (its C library may be musl, not glibc).' : message;
    throw new Error(`${program} failed. ${reason}\nTo use a PostgreSQL server of your own instead, set DATABASE_URL.`, { cause });
  }
}
