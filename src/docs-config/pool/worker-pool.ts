import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import { FairQueue, type QueueKey } from '../../concurrency/fair-queue.ts';
import { GatewayError } from '../../errors.ts';
import { packageRoot } from '../../package-root.ts';

/** A module of a thread, and the options of Node.js that it is loaded with. */
export interface ThreadModule {
  readonly filename: string;
  readonly execArgv: string[];
}

/**
 * The module that the threads run. When the process runs the sources, as tests and tools do, the thread registers the
 * compiler too; it never runs an outdated compiled file.
 */
export function workerModule(): ThreadModule {
  if (!import.meta.url.endsWith('.ts'))
    return { filename: fileURLToPath(new URL('dist/docs-config/pool/worker.js', packageRoot)), execArgv: [] };
  return { filename: fileURLToPath(new URL('./worker.ts', import.meta.url)), execArgv: ['--import', import.meta.resolve('tsx')] };
}

/** Options of a pool. */
export interface WorkerPoolOptions {
  /** What the thread runs: its default export takes a job, and sends a message to the parent before it begins. */
  readonly module: ThreadModule;
  /** The maximum number of queued jobs: a short job counts as `maxQueuedCharacters / maxQueuedJobs` characters. */
  readonly maxQueuedJobs: number;
  /** The maximum size of the queued jobs together, in characters. */
  readonly maxQueuedCharacters: number;
  /** How long a job may be queued, in milliseconds; then it is dropped. */
  readonly maxWaitMs: number;
  /** How long a job may run, in milliseconds. The time in which its thread is started does not count. */
  readonly jobTimeoutMs: number;
  /** How long an idle thread is kept, in milliseconds. */
  readonly idleMs: number;
  /** The maximum heap of the thread, in MiB: old generation and young generation. */
  readonly maxHeapMb: number;
  readonly maxYoungHeapMb: number;
}

/** How a job is queued. */
export interface JobOptions {
  /** The size of the job, in characters. */
  readonly characters: number;
  /** On whose behalf it runs: the queue is fair between these. */
  readonly queueKey?: QueueKey;
  /** Whether the result is no longer needed; a queued job is then dropped. */
  readonly isAbandoned?: () => boolean;
}

/** A worker thread for long work, so that it does not block the event loop. */
export interface WorkerPool<Job, Result> {
  /**
   * Runs a job on the thread, as soon as it is free.
   *
   * @throws GatewayError `UNAVAILABLE` when the queue is full, for this caller or in total, when the job is queued or runs too
   *   long, when it is abandoned, or when the pool is closed; `PAYLOAD_TOO_LARGE` when it needs more memory than the thread has;
   *   `INTERNAL` when the thread fails for another reason. The next job then gets a new thread.
   */
  run(job: Job, options: JobOptions): Promise<Result>;
  /** Ends the thread, which keeps the process alive while a job runs. Jobs that are not done fail with `UNAVAILABLE`. */
  close(): Promise<void>;
}

interface Task<Job, Result> {
  readonly job: Job;
  readonly weight: number;
  readonly isAbandoned: (() => boolean) | undefined;
  readonly startsByMs: number;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: GatewayError) => void;
}

/** How long the thread may take to load its module, in milliseconds. */
const maxLoadMs = 60_000;

/** Creates a pool of one thread, which is started for the first job. */
export function createWorkerPool<Job, Result>(options: WorkerPoolOptions): WorkerPool<Job, Result> {
  const leastWeight = Math.ceil(options.maxQueuedCharacters / options.maxQueuedJobs);
  // Piscina gets one job at a time: its own queue is not bounded for jobs that can be stopped (docs/decisions/worker-pool.md).
  // Apart from heavy work, which waits for the event loop and not for a thread.
  const queue = new FairQueue<Task<Job, Result>>(options.maxQueuedCharacters, ({ weight }) => weight);
  const piscina = new Piscina({
    ...options.module,
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: options.idleMs,
    atomics: 'disabled', // so that an idle thread collects its garbage
    recordTiming: false,
    resourceLimits: { maxOldGenerationSizeMb: options.maxHeapMb, maxYoungGenerationSizeMb: options.maxYoungHeapMb },
  });
  let running: { begin(): void; stop(error: GatewayError): void } | undefined;
  let closed = false;

  piscina.on('message', () => running?.begin());
  // A thread that fails while it loads its module has no job yet, and is not replaced.
  piscina.on('error', (cause) => {
    if (piscina.threads.length === 0) running?.stop(toThreadError(cause));
  });

  async function start({ job, resolve, reject }: Task<Job, Result>): Promise<void> {
    const controller = new AbortController();
    const stop = (error: GatewayError) => controller.abort(error);
    const stopAfter = (limitMs: number, what: string, advice: string) => {
      const error = new GatewayError('UNAVAILABLE', `The ${what} longer than ${limitMs / 1000} s and was stopped. ${advice}`);
      return setTimeout(() => stop(error), limitMs);
    };
    let timer = stopAfter(maxLoadMs, 'start of the check took', 'Try again shortly.');
    const begin = () => {
      clearTimeout(timer);
      timer = stopAfter(options.jobTimeoutMs, 'check took', 'Send fewer or smaller documents.');
    };
    running = { begin, stop };
    try {
      resolve((await piscina.run(job, { signal: controller.signal })) as Result);
    } catch (error) {
      reject(controller.signal.aborted ? controller.signal.reason : toThreadError(error));
    } finally {
      clearTimeout(timer);
      running = undefined;
      next();
    }
  }

  /** Starts the next queued job. */
  function next(): void {
    dropObsolete();
    const task = queue.shift();
    if (task) void start(task);
  }

  /** Rejects queued jobs that are abandoned or too old. */
  function dropObsolete(): void {
    const nowMs = performance.now();
    const error = new GatewayError(
      'UNAVAILABLE',
      'The check did not start in time, because other checks were queued. Try again shortly.',
    );
    const isObsolete = ({ startsByMs, isAbandoned }: Task<Job, Result>) => startsByMs <= nowMs || isAbandoned?.() === true;
    for (const { reject } of queue.removeWhere(isObsolete)) reject(error);
  }

  return {
    run(job, { characters, queueKey, isAbandoned }) {
      if (closed) return Promise.reject(stopping());
      return new Promise((resolve, reject) => {
        const weight = Math.max(characters, leastWeight);
        const task = { job, weight, isAbandoned, startsByMs: performance.now() + options.maxWaitMs, resolve, reject };
        if (!running) return void start(task);
        dropObsolete();
        if (queue.push(queueKey, task)) return;
        reject(new GatewayError('UNAVAILABLE', 'Too many checks are queued. Try again shortly.'));
      });
    },
    async close() {
      closed = true;
      for (const { reject } of queue.removeWhere(() => true)) reject(stopping());
      running?.stop(stopping());
      await piscina.destroy();
    },
  };
}

const stopping = () => new GatewayError('UNAVAILABLE', 'The gateway is stopping.');

/** The error of a job whose thread failed. */
function toThreadError(cause: unknown): GatewayError {
  const isOutOfMemory = cause instanceof Error && 'code' in cause && cause.code === 'ERR_WORKER_OUT_OF_MEMORY';
  return isOutOfMemory
    ? new GatewayError('PAYLOAD_TOO_LARGE', 'The check exceeds its memory limit. Send fewer or smaller documents.', { cause })
    : new GatewayError('INTERNAL', 'The check failed. The log has the cause.', { cause });
}
