import { readFileSync, writeFileSync } from 'node:fs';

/** The peak memory of a process from now on. */
export interface MemoryPeak {
  /** The peak so far, in MiB; `undefined` without /proc. */
  readMiB(): number | undefined;
  stop(): void;
}

/** How often the memory is read, because the kernel's own peak cannot be reset everywhere. */
const sampleEveryMs = 100;

/** Starts to watch a process. */
export function watchMemory(pid: number): MemoryPeak {
  const kernelPeak = resetKernelPeak(pid);
  let peak = read(pid, 'VmRSS');
  const sample = () => {
    const now = read(pid, kernelPeak ? 'VmHWM' : 'VmRSS');
    if (now !== undefined) peak = Math.max(peak ?? 0, now);
  };
  const timer = setInterval(sample, sampleEveryMs);
  return {
    readMiB() {
      sample();
      return peak;
    },
    stop: () => clearInterval(timer),
  };
}

/** Resets the kernel's peak. @returns whether that is permitted. */
function resetKernelPeak(pid: number): boolean {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
    return true;
  } catch {
    return false;
  }
}

function read(pid: number, field: string): number | undefined {
  try {
    const kilobytes = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
    return kilobytes === undefined ? undefined : Number(kilobytes) / 1024;
  } catch {
    return undefined;
  }
}
