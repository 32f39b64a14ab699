import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { createWorkerPool, type WorkerPool, type WorkerPoolOptions } from '../../../src/docs-config/pool/worker-pool.ts';

interface Job {
  readonly job: 'echo' | 'hang' | 'exit' | 'throw' | 'wait' | 'fill' | 'mark';
  readonly argument?: unknown;
}

const moduleOf = (name: string) => ({ filename: fileURLToPath(new URL(name, import.meta.url)), execArgv: [] });

const open: WorkerPool<Job, unknown>[] = [];
afterEach(() => Promise.all(open.splice(0).map((pool) => pool.close())));

function poolWith(options: Partial<WorkerPoolOptions> = {}): WorkerPool<Job, unknown> {
  const pool = createWorkerPool<Job, unknown>({
    module: moduleOf('obedient-worker.js'),
    maxQueuedJobs: 10,
    maxQueuedCharacters: 1000,
    maxWaitMs: 20_000,
    jobTimeoutMs: 20_000,
    idleMs: 20_000,
    maxHeapMb: 32,
    maxYoungHeapMb: 8,
    ...options,
  });
  open.push(pool);
  return pool;
}

/** A job that ends when `raise` is called. */
function heldJob(): { job: Job; raise: () => void } {
  const flag = new Int32Array(new SharedArrayBuffer(4));
  const raise = () => {
    Atomics.store(flag, 0, 1);
    Atomics.notify(flag, 0);
  };
  return { job: { job: 'wait', argument: flag }, raise };
}

const echo = (argument: unknown): Job => ({ job: 'echo', argument });

test('resolves each of many jobs with its own result', async () => {
  const pool = poolWith({ maxQueuedJobs: 100 });
  const results = await Promise.all(
    Array.from({ length: 50 }, (_, index) => pool.run(echo(index), { characters: 1, queueKey: 1 })),
  );
  expect(results).toEqual(Array.from({ length: 50 }, (_, index) => index));
});

test.each([
  ['jobs', { maxQueuedJobs: 1 }, 1],
  ['characters', { maxQueuedCharacters: 99 }, 99],
])(
  'rejects a job with UNAVAILABLE when too many %s are queued, and accepts jobs again afterward',
  async (_, limits, characters) => {
    const pool = poolWith(limits);
    const { job, raise } = heldJob();
    const running = pool.run(job, { characters: 1_000_000 }); // a job that can start immediately may have any size
    const waiting = pool.run(echo('waited its turn'), { characters });
    await expect(pool.run(echo('too many'), { characters: 1 })).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: 'Too many checks are queued. Try again shortly.',
    });
    raise();
    expect(await Promise.all([running, waiting])).toEqual(['waited', 'waited its turn']);
    expect(await pool.run(echo('next'), { characters: 1 })).toBe('next');
  },
);

test.each<[Job['job'], string]>([
  ['exit', 'INTERNAL'],
  ['throw', 'INTERNAL'],
  ['fill', 'PAYLOAD_TOO_LARGE'],
])('a thread that fails (%s) rejects its own job with %s; the next job is run', async (job, code) => {
  const pool = poolWith();
  const failing = pool.run({ job }, { characters: 1 });
  const next = pool.run(echo('next'), { characters: 1 });
  await expect(failing).rejects.toMatchObject({ code, cause: expect.any(Error) });
  expect(await next).toBe('next');
});

test('rejects a job that takes too long with UNAVAILABLE; the next job is run', async () => {
  const pool = poolWith({ jobTimeoutMs: 1000 });
  const hanging = pool.run({ job: 'hang' }, { characters: 1 });
  const next = pool.run(echo('next'), { characters: 1 });
  await expect(hanging).rejects.toMatchObject({ code: 'UNAVAILABLE', message: expect.stringContaining('longer than 1 s') });
  expect(await next).toBe('next');
});

test('rejects a job with INTERNAL at once when its thread cannot be started', async () => {
  const pool = poolWith({ module: moduleOf('missing-worker.js') });
  const jobs = await Promise.allSettled([pool.run(echo(1), { characters: 1 }), pool.run(echo(2), { characters: 1 })]);
  expect(jobs).toMatchObject([
    { status: 'rejected', reason: { code: 'INTERNAL', cause: expect.any(Error) } },
    { status: 'rejected', reason: { code: 'INTERNAL', cause: expect.any(Error) } },
  ]);
});

test('the time in which a thread is started does not count as time of its job', async () => {
  const pool = poolWith({ module: moduleOf('slow-worker.js'), jobTimeoutMs: 1000 });
  expect(await pool.run(echo('after a slow start'), { characters: 1 })).toBe('after a slow start');
});

test('shares take turns, and one share alone can use three quarters of the queue', async () => {
  const pool = poolWith({ maxQueuedJobs: 8, maxQueuedCharacters: 800 });
  const { job, raise } = heldJob();
  const order: string[] = [];
  const jobs = [pool.run(job, { characters: 1, queueKey: 1 })];
  const send = (queueKey: number, name: string, characters = 1) =>
    jobs.push(pool.run(echo(name), { characters, queueKey }).then((result) => order.push(String(result))));
  for (const name of ['a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'a7']) send(1, name); // each counts as an eighth
  send(2, 'b1', 200);
  send(1, 'a8');
  send(3, 'c1');
  raise();
  const settled = await Promise.allSettled(jobs);
  expect(order).toEqual(['a1', 'b1', 'a2', 'a3', 'a4', 'a5', 'a6']);
  expect(settled.flatMap(({ status }, index) => (status === 'rejected' ? [index] : []))).toEqual([7, 9, 10]);
});

test.each([
  ['whose caller has disconnected', 20_000, true],
  ['that has waited too long', 0, false],
])('does not run or queue a job %s', async (_, maxWaitMs, isAbandoned) => {
  const pool = poolWith({ maxQueuedJobs: 2, maxWaitMs });
  const { job, raise } = heldJob();
  const running = pool.run(job, { characters: 1 });
  let isGone = false;
  const ran = new Int32Array(new SharedArrayBuffer(4));
  const dropped = pool.run({ job: 'mark', argument: ran }, { characters: 1000, queueKey: 1, isAbandoned: () => isGone });
  isGone = isAbandoned;
  const next = pool.run(echo('next'), { characters: 1000, queueKey: 2 }); // fits only without the other
  await expect(dropped).rejects.toMatchObject({ code: 'UNAVAILABLE', message: expect.stringContaining('did not start in time') });
  raise();
  expect(await running).toBe('waited');
  if (maxWaitMs > 0) expect(await next).toBe('next');
  else
    await expect(next).rejects.toMatchObject({ code: 'UNAVAILABLE', message: expect.stringContaining('did not start in time') });
  expect(ran[0]).toBe(0);
});

test('close rejects unfinished and later jobs', async () => {
  const pool = poolWith();
  const jobs = [pool.run({ job: 'hang' }, { characters: 1 }), pool.run(echo('waiting'), { characters: 1 })];
  const settled = Promise.allSettled(jobs);
  await pool.close();
  const stopping = { status: 'rejected', reason: { code: 'UNAVAILABLE', message: 'The gateway is stopping.' } };
  expect(await settled).toMatchObject([stopping, stopping]);
  await expect(pool.run(echo('later'), { characters: 1 })).rejects.toMatchObject({ code: 'UNAVAILABLE' });
});

test.each([
  ['when they have nothing to do', new URL('one-job.ts', import.meta.url)],
  ['when the checker is closed during a check', new URL('closed-during-job.ts', import.meta.url)],
])('threads do not keep a process alive %s', (_, entry) => {
  const { status, stdout, signal } = spawnSync(process.execPath, ['--import', import.meta.resolve('tsx'), fileURLToPath(entry)], {
    encoding: 'utf8',
    timeout: 25_000,
  });
  expect({ status, signal, stdout }).toEqual({ status: 0, signal: null, stdout: 'done\n' });
});
