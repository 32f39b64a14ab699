import { existsSync, readdirSync, readFileSync } from 'node:fs';

/**
 * Whether a process runs; one that has given its memory back does not, though the system may still be ending it, or keep it
 * until its parent has waited for it.
 */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== 'linux' || readFileSync(`/proc/${pid}/cmdline`).length > 0;
  } catch {
    return false;
  }
}

/**
 * A process with everything below it, from `/proc`; empty if it has ended, also while its parent has not waited
 * for it. Without `/proc`, only the process.
 */
export function descendants(pid: number): number[] {
  if (!existsSync('/proc/self/stat')) return isAlive(pid) ? [pid] : [];
  const children = new Map<number, number[]>();
  let isRunning = false;
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const status = statusOf(Number(name));
    if (!status) continue;
    if (Number(name) === pid) isRunning = true;
    children.set(status.parent, [...(children.get(status.parent) ?? []), Number(name)]);
  }
  if (!isRunning) return [];
  const below = (parent: number): number[] => [parent, ...(children.get(parent) ?? []).flatMap(below)];
  return below(pid);
}

function statusOf(pid: number): { readonly parent: number } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' || state === 'X' ? undefined : { parent: Number(parent) };
  } catch {
    return undefined;
  }
}

/** The title of a process, such as `postgres: checkpointer`. */
export function titleOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ').trim();
  } catch {
    return '';
  }
}

/** The memory of a process in MiB, by default what is in use; `VmHWM` is its peak. `undefined` without /proc. */
export function residentMiB(pid: number, field: 'VmRSS' | 'VmHWM' = 'VmRSS'): number | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1');
    return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) / 1_024;
  } catch {
    return undefined;
  }
}
