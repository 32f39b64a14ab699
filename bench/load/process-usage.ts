import { readdirSync, readFileSync } from 'node:fs';

/** The unit of the kernel's CPU times, as programs see them: hundredths of a second on every Linux. */
const microsecondsPerTick = 10_000;

/** The CPU time of a process so far, user and system, in microseconds; `undefined` without /proc. */
export function cpuMicroseconds(pid: number): number | undefined {
  const fields = stat(pid);
  return fields && sum(fields.slice(11, 13)) * microsecondsPerTick;
}

/** The CPU time of a process and of all its children, including those that have exited. */
export function familyCpuMicroseconds(pid: number): number | undefined {
  const own = stat(pid);
  if (!own) return undefined;
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => stat(Number(name)))
    .filter((fields) => fields?.[1] === String(pid));
  const times = [own.slice(11, 15), ...children.map((fields = []) => fields.slice(11, 13))];
  return sum(times.flat()) * microsecondsPerTick;
}

/** The fields of a process's `stat` from the third on: its state, its parent, and so on. */
function stat(pid: number): string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return text.slice(text.lastIndexOf(')') + 2).split(' '); // the name before may contain spaces
  } catch {
    return undefined;
  }
}

const sum = (fields: readonly string[]): number => fields.reduce((total, field) => total + Number(field), 0);

/** The current memory of a process; `undefined` without /proc. */
export function rssMiB(pid: number): number | undefined {
  try {
    const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? [];
    return kilobytes === undefined ? undefined : Number(kilobytes) / 1_024;
  } catch {
    return undefined;
  }
}
