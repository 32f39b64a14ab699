import { get } from 'node:http';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { rssMiB } from './load/process-usage.ts';
import { median } from './statistics.ts';
import { startSystem } from './systems.ts';

/** What starting the gateway costs. */
export interface Startup {
  /** From the command to `/readyz` 200, with the embedded database there but not running. */
  readonly warmStartSeconds: number;
  /** What the process holds then. */
  readonly rssAtRestMiB: number | undefined;
}

/** Starts the gateway as `npm start` does, on an embedded database of its own: once to make it, then some times to measure. */
export async function measureStartup(folder: string, runs: number): Promise<Startup> {
  const times: number[] = [];
  const memory: number[] = [];
  for (let run = 0; run <= runs; run += 1) {
    const from = performance.now();
    const running = await startSystem('gateway', { DATA_DIR: join(folder, 'startup') });
    while ((await status(running.port)) !== 200) await sleep(5);
    if (run > 0) times.push((performance.now() - from) / 1_000);
    await sleep(500); // what starting leaves behind is let go of
    const now = rssMiB(running.pid);
    if (now !== undefined) memory.push(now);
    await running.stop();
  }
  return { warmStartSeconds: median(times), rssAtRestMiB: memory.length > 0 ? median(memory) : undefined };
}

function status(port: number): Promise<number> {
  return new Promise((resolve) => {
    get({ host: '127.0.0.1', port, path: '/readyz', agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    }).once('error', () => resolve(0));
  });
}
