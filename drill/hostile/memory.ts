import { writeFileSync } from 'node:fs';
import { residentMiB } from '../../test/support/processes.ts';

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
  let peak = residentMiB(pid);
  const sample = () => {
    const now = residentMiB(pid, kernelPeak ? 'VmHWM' : 'VmRSS');
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
