import { readFileSync } from 'node:fs';

/** What the kernel counts CPU time in, as seen by programs: hundredths of a second, on every Linux. */
const microsecondsPerTick = 10_000;

/** The CPU time that a process has taken so far, user and system, in microseconds; nothing where there is no /proc. */
export function cpuMicroseconds(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' '); // the name before may hold spaces
    return (Number(fields[11]) + Number(fields[12])) * microsecondsPerTick;
  } catch {
    return undefined;
  }
}

/** The memory that a process holds now; nothing where there is no /proc. */
export function rssMiB(pid: number): number | undefined {
  try {
    const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
    return kilobytes === undefined ? undefined : Number(kilobytes) / 1024;
  } catch {
    return undefined;
  }
}
