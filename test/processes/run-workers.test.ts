import cluster from 'node:cluster';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { beforeEach, expect, test } from 'vitest';
import { runWorkers } from '../../src/commands/workers.ts';
import { until } from '../support/process.ts';
import { isAlive } from '../support/processes.ts';

let lines: string[];
let log: Parameters<typeof runWorkers>[2];
beforeEach(() => {
  lines = [];
  log = pino({}, { write: (line: string) => void lines.push(line) });
});

/** What the workers that are started from now on run. */
function setWorker(...args: string[]): void {
  cluster.setupPrimary({
    exec: fileURLToPath(new URL('one-worker.ts', import.meta.url)),
    args,
    execArgv: ['--import', 'tsx'],
    silent: true,
  });
}

test('workers that are to stop before they have loaded their modules stop, and that is not a failure', async () => {
  setWorker();
  expect(await runWorkers(2, Promise.resolve('SIGTERM'), log)).toBe(0);
  expect(lines.map((line) => JSON.parse(line).msg)).toEqual(['SIGTERM: stopping 2 workers']);
});

test('a worker that is killed while it drains is a failure', async () => {
  setWorker('SIGKILL');
  expect(await runWorkers(2, Promise.resolve('SIGTERM'), log)).toBe(1);
  const messages = lines.map((line) => JSON.parse(line).msg);
  expect(messages.slice(1)).toEqual(Array(2).fill(expect.stringMatching(/^worker \d+ was killed by SIGKILL$/)));
});

test('a worker that the signal of a terminal ends before it handles it is not a failure', async () => {
  setWorker('SIGINT');
  expect(await runWorkers(2, Promise.resolve('SIGINT'), log)).toBe(0);
});

test('a worker that exits before the primary process responds to its request for the listener is replaced', async () => {
  let stop = (_reason: string): void => {};
  const stopped = new Promise<string>((resolve) => {
    stop = resolve;
  });
  setWorker('exit');
  // A worker of the test before is in the list until its channel is closed, too.
  const earlier = new Set(Object.values(cluster.workers ?? {}));
  const result = runWorkers(2, stopped, log);
  const workers = Object.values(cluster.workers ?? {}).filter((worker) => !earlier.has(worker));
  const pids = workers.map((worker) => worker?.process.pid ?? 0);
  expect(pids).toHaveLength(2);
  setWorker();
  // Meanwhile this process, the primary one, processes no message.
  while (pids.every(isAlive)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
  await until(() => lines.some((line) => line.includes('replaced worker')), 'another worker listens');
  stop('SIGTERM');
  expect(await result).toBe(0);
});
