import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { median } from './compare.ts';
import { rssMiB } from './load/process-usage.ts';
import { startSystem } from './systems.ts';

/** How often a warm start is measured. */
const runs = 5;

/** The medians of warm starts: with an existing bundled database that does not run. */
export interface Startup {
  /** From the command to `/readyz` 200. */
  readonly seconds: number;
  /** The memory of the process then; `NaN` without /proc. */
  readonly rssMiB: number;
}

/** Starts the gateway on a database in `folder`: once to create it, and then several times. */
export async function measureStartup(folder: string): Promise<Startup> {
  const times: number[] = [];
  const memory: number[] = [];
  for (let run = 0; run <= runs; run += 1) {
    const startedAt = performance.now();
    const { port, pid, stop } = await startSystem('gateway', { DATA_DIR: join(folder, 'startup') });
    while (!(await fetch(`http://127.0.0.1:${port}/readyz`)).ok) await sleep(5);
    if (run > 0) times.push((performance.now() - startedAt) / 1_000);
    await sleep(500); // until the memory of the startup is released
    memory.push(rssMiB(pid) ?? Number.NaN);
    await stop();
  }
  return { seconds: median(times), rssMiB: median(memory) };
}
