import { once } from 'node:events';
import { closeSync, linkSync, openSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Layout } from './layout.ts';

/** A PostgreSQL server: its main process, and the port it listens on. */
export interface Postmaster {
  readonly pid: number;
  readonly port: number;
}

/** How old a lock file must be to count as damaged: a starting server creates it empty and fills it immediately. */
const writingMs = 2_000;

const lockFile = (layout: Layout): string => join(layout.cluster, 'postmaster.pid');

/** The server that is running on this data directory, no matter which process started it; `undefined` if there is none. */
export function runningPostmaster(layout: Layout): Postmaster | undefined {
  const lock = readLock(lockFile(layout));
  return lock && lock !== 'damaged' && isPostmaster(lock.pid, layout) ? lock : undefined;
}

/** Whether `pid` is running and is the postmaster of this data directory, which is one of its arguments. */
export function isPostmaster(pid: number, layout: Layout): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  return argumentsOf(pid)?.includes(layout.cluster) ?? true;
}

/**
 * Has the server listen on a socket in its data directory too, by which those find it who do not see its process. Without any
 * socket it does not start, and not every file system has them: the second one is none of a file system.
 */
export const socketSettings = process.platform === 'linux' ? ['unix_socket_directories=.,@user-group-gateway'] : [];

const socketPrefix = '.s.PGSQL.';

/** Removes the sockets of servers that were killed. @param port that of the server that runs now. */
export function removeOldSockets({ cluster }: Layout, port: number): void {
  const own = `${socketPrefix}${port}`;
  for (const name of readdirSync(cluster)) {
    if (name.startsWith(socketPrefix) && ![own, `${own}.lock`].includes(name)) rmSync(join(cluster, name), { force: true });
  }
}

/**
 * Whether a server runs on the data directory whose process is not visible here, as in another container with the same volume.
 * Its socket is reached through the file system, unless that cannot have any.
 */
export async function isUsedElsewhere(layout: Layout): Promise<boolean> {
  if (!(await listensElsewhere(layout))) return false;
  await sleep(200); // one that has just been killed may still have taken a connection
  return listensElsewhere(layout);
}

async function listensElsewhere(layout: Layout): Promise<boolean> {
  const lock = readLock(lockFile(layout));
  if (!lock || lock === 'damaged' || process.platform !== 'linux') return false;
  // The path of a socket has at most 107 bytes, that of the data directory any number.
  const folder = openSync(layout.cluster, 'r');
  const socket = connect(`/proc/self/fd/${folder}/${socketPrefix}${lock.port}`);
  try {
    await once(socket, 'connect');
  } catch (error) {
    // With any other error, such as that of a server which is stopped and has too many connections waiting, there may be one.
    if (['ENOENT', 'ECONNREFUSED'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
  } finally {
    socket.destroy();
    closeSync(folder);
  }
  return !isPostmaster(lock.pid, layout);
}

/**
 * Removes stale lock files, of the data directory and of its sockets: those that are empty or garbage, as after a full disk or a
 * crash of the machine, and those whose pid now belongs to another program, as is common in a restarted container. PostgreSQL
 * does not start on the former, and mistakes that program, or a zombie, for a running server on the latter. PostgreSQL's own
 * protection within a container, the shared memory of the data directory, is not affected; and a server whose lock file is lost
 * stops by itself within a minute.
 *
 * @throws Error when the lock is that of a server that runs, but is not visible here.
 */
export async function removeStaleLocks(layout: Layout): Promise<void> {
  // PostgreSQL itself would not notice it, because shared memory is not visible either.
  if (await isUsedElsewhere(layout))
    throw new Error(
      `Another PostgreSQL, whose process is not visible here, uses ${layout.cluster}: two would destroy the data. ` +
        'Run commands in the container of the gateway, or use a PostgreSQL of your own with DATABASE_URL.',
    );
  const names = readdirSync(layout.cluster).filter((name) => name.startsWith(socketPrefix) && name.endsWith('.lock'));
  for (const file of [lockFile(layout), ...names.map((name) => join(layout.cluster, name))]) await removeIfStale(file, layout);
}

async function removeIfStale(file: string, layout: Layout): Promise<void> {
  if (readLock(file) === 'damaged') await sleep(Math.max(0, writingMs - ageMs(file)));
  const isStale = (path: string): boolean => {
    const lock = readLock(path);
    if (lock === 'damaged') return true;
    const words = lock && argumentsOf(lock.pid);
    return words !== undefined && words.length > 0 && !words.includes(layout.cluster);
  };
  if (!isStale(file)) return;
  const taken = `${file}.${process.pid}`;
  try {
    renameSync(file, taken);
    // Another process may have created a valid one since; a running server does not notice that its lock file is briefly missing.
    if (!isStale(taken)) linkSync(taken, file);
    rmSync(taken);
  } catch (error) {
    // With one of these codes, another process removed it first.
    if (!['ENOENT', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

/** The content of a lock file: its first line is the pid (negative for a single-user server), the fourth the port. */
function readLock(file: string): Postmaster | 'damaged' | undefined {
  try {
    const lines = readFileSync(file, 'utf8').split('\n');
    if (/^-[1-9]\d*$/.test(lines[0] ?? '')) return undefined;
    const [pid, port] = [Number(lines[0]), Number(lines[3])];
    return Number.isInteger(pid) && pid > 0 && Number.isInteger(port) && port > 0 ? { pid, port } : 'damaged';
  } catch {
    return undefined;
  }
}

function ageMs(file: string): number {
  const changed = statSync(file, { throwIfNoEntry: false })?.mtimeMs;
  return changed === undefined ? writingMs : Math.max(0, Date.now() - changed); // the clock may have been set back
}

/**
 * The arguments of a process: one empty string for a zombie, none if there is no such process, `undefined` if they cannot be
 * read. (Reading its working directory would need more privileges.)
 */
function argumentsOf(pid: number): string[] | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? [] : undefined;
  }
}
