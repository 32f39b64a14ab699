import { Worker } from 'node:worker_threads';
import { GatewayError } from '../domain/errors.ts';
import { FairQueue, type Share } from '../fair-queue.ts';

/** Options of a pool. */
export interface WorkerPoolOptions {
  /** The module that each thread runs: it sends one message once it is loaded, and replies to every message with one. */
  readonly entry: URL;
  /** The maximum number of threads. */
  readonly maxThreads: number;
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
  /** The maximum heap of a thread, in MiB: old generation and young generation. */
  readonly maxHeapMb: number;
  readonly maxYoungHeapMb: number;
}

/** How a job is queued. */
export interface JobOptions {
  /** The size of the job, in characters. */
  readonly characters: number;
  /** On whose behalf it runs. Shares take turns. */
  readonly share?: Share;
  /** Whether the result is no longer needed; a queued job is then dropped. */
  readonly isAbandoned?: () => boolean;
}

/** Worker threads for long work, so that it does not block the event loop. They never keep the process alive. */
export interface WorkerPool<Job, Result> {
  /**
   * Runs a job on a thread, as soon as one is free.
   *
   * @throws GatewayError `UNAVAILABLE` when the queue is full, for this share or in total, when the job is queued or runs too
   *   long, when it is abandoned, or when the pool is closed; `PAYLOAD_TOO_LARGE` when it needs more memory than a thread has;
   *   `INTERNAL` when the thread fails for another reason. The next job then gets a new thread.
   */
  run(job: Job, options: JobOptions): Promise<Result>;
  /** Ends every thread. Jobs that are not done fail with `UNAVAILABLE`. */
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

interface Thread<Job, Result> {
  readonly worker: Worker;
  isLoaded: boolean;
  task: Task<Job, Result> | undefined;
  timer: NodeJS.Timeout | undefined;
}

/** How long a thread may take to load its module, in milliseconds. */
const maxLoadMs = 60_000;

/** Creates a pool. The first thread is started for the first job. */
export function createWorkerPool<Job, Result>(options: WorkerPoolOptions): WorkerPool<Job, Result> {
  const threads = new Set<Thread<Job, Result>>();
  const leastWeight = Math.ceil(options.maxQueuedCharacters / options.maxQueuedJobs);
  const queue = new FairQueue<Task<Job, Result>>(options.maxQueuedCharacters, ({ weight }) => weight);
  let closed = false;

  function start(): Thread<Job, Result> {
    const worker = new Worker(options.entry, {
      execArgv: [], // not those of the process: threads reject some of them
      resourceLimits: { maxOldGenerationSizeMb: options.maxHeapMb, maxYoungGenerationSizeMb: options.maxYoungHeapMb },
    });
    const thread: Thread<Job, Result> = { worker, isLoaded: false, task: undefined, timer: undefined };
    let cause: unknown;
    worker.on('message', (result: Result) => {
      const { task } = thread;
      if (!thread.isLoaded) {
        thread.isLoaded = true;
        if (task) limit(thread);
        return;
      }
      release(thread);
      task?.resolve(result);
      next();
    });
    worker.on('error', (error) => {
      cause = error;
    });
    worker.on('exit', (code) => {
      fail(thread, toThreadError(cause ?? new Error(`A worker thread exited with ${code}.`)));
      next();
    });
    worker.unref(); // last, because adding listeners undoes it
    threads.add(thread);
    return thread;
  }

  function assign(thread: Thread<Job, Result>, task: Task<Job, Result>): void {
    thread.task = task;
    limit(thread);
    thread.worker.postMessage(task.job);
  }

  /** Ends a thread that takes too long: to load its module, then for its job. */
  function limit(thread: Thread<Job, Result>): void {
    const { isLoaded } = thread;
    const limitMs = isLoaded ? options.jobTimeoutMs : maxLoadMs;
    const what = isLoaded ? 'check took' : 'start of the check took';
    const advice = isLoaded ? 'Send fewer or smaller documents.' : 'Try again shortly.';
    clearTimeout(thread.timer);
    thread.timer = setTimeout(() => {
      fail(thread, new GatewayError('UNAVAILABLE', `The ${what} longer than ${limitMs / 1000} s and was stopped. ${advice}`));
      next();
    }, limitMs).unref();
  }

  /** Marks a thread as idle; without a new job it is terminated after `idleMs`. */
  function release(thread: Thread<Job, Result>): void {
    clearTimeout(thread.timer);
    thread.task = undefined;
    thread.timer = setTimeout(() => discard(thread), options.idleMs).unref();
  }

  function discard(thread: Thread<Job, Result>): Promise<unknown> {
    clearTimeout(thread.timer);
    threads.delete(thread);
    return thread.worker.terminate();
  }

  function fail(thread: Thread<Job, Result>, error: GatewayError): void {
    const { task } = thread;
    thread.task = undefined;
    void discard(thread);
    task?.reject(error);
  }

  /** An idle thread, or a new one; undefined when all are busy. */
  function freeThread(): Thread<Job, Result> | undefined {
    const idle = [...threads].find(({ task }) => !task);
    return idle ?? (threads.size < options.maxThreads ? start() : undefined);
  }

  /** Assigns queued jobs to idle and new threads. */
  function next(): void {
    dropObsolete();
    while (!closed && queue.size > 0) {
      const thread = freeThread();
      if (!thread) return;
      assign(thread, queue.shift() as Task<Job, Result>);
    }
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
    run(job, { characters, share, isAbandoned }) {
      if (closed) return Promise.reject(new GatewayError('UNAVAILABLE', 'The gateway is stopping.'));
      return new Promise((resolve, reject) => {
        const weight = Math.max(characters, leastWeight);
        const task = { job, weight, isAbandoned, startsByMs: performance.now() + options.maxWaitMs, resolve, reject };
        const thread = freeThread(); // jobs are queued only when there is none
        if (thread) return assign(thread, task);
        dropObsolete();
        if (queue.push(share, task)) return;
        reject(new GatewayError('UNAVAILABLE', 'Too many checks are queued. Try again shortly.'));
      });
    },
    async close() {
      closed = true;
      const error = new GatewayError('UNAVAILABLE', 'The gateway is stopping.');
      for (const { reject } of queue.removeWhere(() => true)) reject(error);
      const ending = [...threads].map((thread) => {
        thread.task?.reject(error);
        thread.task = undefined;
        return discard(thread);
      });
      await Promise.all(ending);
    },
  };
}

/** The error of a job whose thread failed. */
function toThreadError(cause: unknown): GatewayError {
  const isOutOfMemory = cause instanceof Error && 'code' in cause && cause.code === 'ERR_WORKER_OUT_OF_MEMORY';
  return isOutOfMemory
    ? new GatewayError('PAYLOAD_TOO_LARGE', 'The check exceeds its memory limit. Send fewer or smaller documents.', { cause })
    : new GatewayError('INTERNAL', 'The check failed. The log has the cause.', { cause });
}
