import { get } from 'node:http';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { rssMiB } from './load/process-usage.ts';
import { median } from './statistics.ts';
import { startSystem } from './systems.ts';

/** The time and memory of a warm start. */
export interface Startup {
  /** From the command to `/readyz` 200, with an existing embedded database that is not running. */
  readonly warmStartSeconds: number;
  /** The memory of the process then. */
  readonly rssAtRestMiB: number | undefined;
}

/** The time and memory of a warm start on a new embedded database, which a first start creates. */
export async function measureStartup(folder: string, runs: number): Promise<Startup> {
  const { times, memory } = await startupTimes({ DATA_DIR: join(folder, 'startup') }, runs);
  return { warmStartSeconds: median(times), rssAtRestMiB: memory.length > 0 ? median(memory) : undefined };
}

/** Starts the gateway as `npm start` does: once unmeasured, then several times. @returns seconds, and MiB where it is known. */
export async function startupTimes(environment: Readonly<Record<string, string>>, runs: number) {
  const times: number[] = [];
  const memory: number[] = [];
  for (let run = 0; run <= runs; run += 1) {
    const from = performance.now();
    const running = await startSystem('gateway', environment);
    while ((await status(running.port)) !== 200) await sleep(5);
    if (run > 0) times.push((performance.now() - from) / 1_000);
    await sleep(500); // until the memory of the startup is released
    const now = rssMiB(running.pid);
    if (now !== undefined) memory.push(now);
    await running.stop();
  }
  return { times, memory };
}

function status(port: number): Promise<number> {
  return new Promise((resolve) => {
    get({ host: '127.0.0.1', port, path: '/readyz', agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    }).once('error', () => resolve(0));
  });
}
