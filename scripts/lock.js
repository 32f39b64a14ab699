// A lock between processes: a file with the id of the process that holds it.
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

const pollMs = 100;

/** How long a file may be empty: between its creation and the write of the process id. */
const maxEmptyMs = 10_000;

/**
 * Waits until this process holds the lock, which it does until it releases it or exits. The lock of a process that no longer
 * exists is taken over. Not reentrant.
 *
 * @param {string} file
 * @param {number} noticeMs how long to wait before standard error says what for.
 * @returns {() => void} releases the lock.
 */
export function acquireLock(file, noticeMs = 5_000) {
  mkdirSync(dirname(file), { recursive: true });
  let noticeAt = performance.now() + noticeMs;
  while (!create(file)) {
    if (!isHeld(file)) {
      removeStale(file);
      continue;
    }
    if (performance.now() >= noticeAt) {
      noticeAt = Number.POSITIVE_INFINITY;
      process.stderr.write(`Waiting for ${holderOf(file)} to finish its setup. If it runs none, delete ${file}.\n`);
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pollMs);
  }
  const release = () => {
    process.off('exit', release);
    if (read(file) === String(process.pid)) rmSync(file, { force: true });
  };
  process.on('exit', release);
  return release;
}

function create(file) {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    return false;
  }
}

/**
 * Removes the lock if it is stale. Only with a lock of its own on that: of two processes that both find it stale, the second one
 * would remove the lock that the first one has acquired since.
 */
function removeStale(file) {
  const release = acquireLock(`${file}.removal`);
  try {
    if (!isHeld(file)) rmSync(file, { force: true });
  } finally {
    release();
  }
}

/**
 * Whether a running process holds the lock. This one does not: a lock with its id is from an earlier process with the same id.
 */
function isHeld(file) {
  const text = read(file);
  if (text === undefined) return false;
  const pid = Number(text);
  if (pid === process.pid) return false;
  if (pid === 0) return Date.now() - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0) < maxEmptyMs;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function holderOf(file) {
  const pid = read(file);
  return pid ? `process ${pid}` : 'another process';
}

function read(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}
