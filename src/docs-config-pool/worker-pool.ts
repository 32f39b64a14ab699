import { Worker } from 'node:worker_threads';
import { GatewayError } from '../domain/errors.ts';
import { FairQueue, type Share } from '../fair-queue.ts';

/** What a pool is given. */
export interface WorkerPoolOptions {
  /** The module that each thread runs: it answers every message with one message. */
  readonly entry: URL;
  /** The most threads at once. */
  readonly maxThreads: number;
  /** The most jobs that wait for a thread: a short job counts as this part of the characters. */
  readonly maxQueuedJobs: number;
  /** The most characters of the jobs that wait for a thread. */
  readonly maxQueuedCharacters: number;
  /** How long a job may wait for a thread, in milliseconds; later it is dropped. */
  readonly maxWaitMs: number;
  /** How long a job may run, in milliseconds. */
  readonly jobTimeoutMs: number;
  /** How long a thread without a job is kept. */
  readonly idleMs: number;
  /** The most memory of a thread's heap, in MiB: of what is kept, and of what is new. */
  readonly maxHeapMb: number;
  readonly maxYoungHeapMb: number;
}

/** What a pool knows of a job beside the job itself. */
export interface JobOptions {
  /** Its size. */
  readonly characters: number;
  /** On whose behalf it runs. Shares take turns. */
  readonly share?: Share;
  /** Whether nobody waits for the result any more; such a job is dropped instead of run. */
  readonly isAbandoned?: () => boolean;
}

/** A few threads that do long work, so that the event loop is free meanwhile. They never keep the process alive. */
export interface WorkerPool<Job, Result> {
  /**
   * Runs a job on a thread, as soon as one is free.
   *
   * @throws GatewayError `UNAVAILABLE` when too much waits already, of this share or in all, when the job waits or takes longer
   * than it may, when it is abandoned, or when the pool is closed; `PAYLOAD_TOO_LARGE` when it takes more memory than a thread has;
   * `INTERNAL` when the thread dies of something else. The next job gets a new thread then.
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
  task: Task<Job, Result> | undefined;
  timer: NodeJS.Timeout | undefined;
}

/** Makes a pool. Its first thread is started for its first job. */
export function createWorkerPool<Job, Result>(options: WorkerPoolOptions): WorkerPool<Job, Result> {
  const threads = new Set<Thread<Job, Result>>();
  const leastWeight = Math.ceil(options.maxQueuedCharacters / options.maxQueuedJobs);
  const queue = new FairQueue<Task<Job, Result>>(options.maxQueuedCharacters, ({ weight }) => weight);
  let closed = false;

  function start(): Thread<Job, Result> {
    const worker = new Worker(options.entry, {
      execArgv: [], // those of the process are not for threads: some of them no thread takes
      resourceLimits: { maxOldGenerationSizeMb: options.maxHeapMb, maxYoungGenerationSizeMb: options.maxYoungHeapMb },
    });
    const thread: Thread<Job, Result> = { worker, task: undefined, timer: undefined };
    let cause: unknown;
    worker.on('message', (result: Result) => {
      const { task } = thread;
      release(thread);
      task?.resolve(result);
      next();
    });
    worker.on('error', (error) => {
      cause = error;
    });
    worker.on('exit', (code) => {
      fail(thread, deathOf(cause ?? new Error(`A worker thread exited with ${code}.`)));
      next();
    });
    worker.unref(); // not before: listening takes it back
    threads.add(thread);
    return thread;
  }

  function assign(thread: Thread<Job, Result>, task: Task<Job, Result>): void {
    clearTimeout(thread.timer);
    thread.task = task;
    thread.timer = setTimeout(() => {
      const seconds = options.jobTimeoutMs / 1000;
      fail(
        thread,
        new GatewayError(
          'UNAVAILABLE',
          `The check took longer than ${seconds} s and was stopped. Send fewer or smaller documents.`,
        ),
      );
      next();
    }, options.jobTimeoutMs).unref();
    thread.worker.postMessage(task.job);
  }

  /** The thread has no job any more; without a new one it ends after a while. */
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

  /** A thread without a job, a new one if there may be one more. */
  function freeThread(): Thread<Job, Result> | undefined {
    const idle = [...threads].find(({ task }) => !task);
    return idle ?? (threads.size < options.maxThreads ? start() : undefined);
  }

  /** Gives waiting jobs to free threads, and to new ones as long as there may be more. */
  function next(): void {
    dropObsolete();
    while (!closed && queue.size > 0) {
      const thread = freeThread();
      if (!thread) return;
      assign(thread, queue.shift() as Task<Job, Result>);
    }
  }

  /** Fails the jobs whose results would come too late for anybody: they neither run nor take up places. */
  function dropObsolete(): void {
    const nowMs = performance.now();
    const error = new GatewayError(
      'UNAVAILABLE',
      'The check did not begin in time, because others were waiting. Try again shortly.',
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
        const thread = freeThread(); // jobs wait only where there is none
        if (thread) return assign(thread, task);
        dropObsolete();
        if (queue.push(share, task)) return;
        reject(new GatewayError('UNAVAILABLE', 'Too many checks are waiting already. Try again shortly.'));
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

/** What a job fails with whose thread died. */
function deathOf(cause: unknown): GatewayError {
  const isOutOfMemory = cause instanceof Error && 'code' in cause && cause.code === 'ERR_WORKER_OUT_OF_MEMORY';
  return isOutOfMemory
    ? new GatewayError('PAYLOAD_TOO_LARGE', 'The check takes more memory than it may. Send less at once.', { cause })
    : new GatewayError('INTERNAL', 'The check broke off. The log has the cause.', { cause });
}
