import { Worker } from 'node:worker_threads';
import { GatewayError } from '../domain/errors.ts';

/** What a pool is given. */
export interface WorkerPoolOptions {
  /** The module that each thread runs: it answers every message with one message. */
  readonly entry: URL;
  /** The most threads at once. */
  readonly maxThreads: number;
  /** The most jobs that wait for a thread. */
  readonly maxQueuedJobs: number;
  /** The most characters of the jobs that wait for a thread. */
  readonly maxQueuedCharacters: number;
  /** How long a job may run. */
  readonly jobTimeoutMs: number;
  /** How long a thread without a job is kept. */
  readonly idleMs: number;
  /** The most memory of a thread's heap, in MiB. */
  readonly maxHeapMb: number;
}

/** A few threads that do long work, so that the event loop is free meanwhile. They never keep the process alive. */
export interface WorkerPool<Job, Result> {
  /**
   * Runs a job on a thread, as soon as one is free. `characters` is its size.
   *
   * @throws GatewayError `UNAVAILABLE` when too much waits already, when the job takes longer than it may, or when the pool is
   * closed; `INTERNAL` when the thread dies of it. The next job gets a new thread then.
   */
  run(job: Job, characters: number): Promise<Result>;
  /** Ends every thread. Jobs that are not done fail with `UNAVAILABLE`. */
  close(): Promise<void>;
}

interface Task<Job, Result> {
  readonly job: Job;
  readonly characters: number;
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
  const queue: Task<Job, Result>[] = [];
  let queuedCharacters = 0;
  let closed = false;

  function start(): Thread<Job, Result> {
    const worker = new Worker(options.entry, {
      execArgv: [], // those of the process are not for threads: some of them no thread takes
      resourceLimits: { maxOldGenerationSizeMb: options.maxHeapMb },
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
      fail(
        thread,
        new GatewayError('INTERNAL', 'The check failed. The log has the cause under the request id.', {
          cause: cause ?? new Error(`A worker thread exited with ${code}.`),
        }),
      );
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

  /** Gives waiting jobs to free threads, and to new ones as long as there may be more. */
  function next(): void {
    while (!closed && queue.length > 0) {
      const idle = [...threads].find(({ task }) => !task);
      if (!idle && threads.size >= options.maxThreads) return;
      const task = queue.shift() as Task<Job, Result>;
      queuedCharacters -= task.characters;
      assign(idle ?? start(), task);
    }
  }

  return {
    run(job, characters) {
      const mustWait = threads.size >= options.maxThreads && [...threads].every(({ task }) => task);
      const isFull = queue.length >= options.maxQueuedJobs || queuedCharacters + characters > options.maxQueuedCharacters;
      if (closed || (mustWait && isFull)) {
        const message = closed ? 'The gateway is stopping.' : 'Too many checks are waiting already. Try again shortly.';
        return Promise.reject(new GatewayError('UNAVAILABLE', message));
      }
      return new Promise((resolve, reject) => {
        queue.push({ job, characters, resolve, reject });
        queuedCharacters += characters;
        next();
      });
    },
    async close() {
      closed = true;
      const error = new GatewayError('UNAVAILABLE', 'The gateway is stopping.');
      for (const { reject } of queue.splice(0)) reject(error);
      const ending = [...threads].map((thread) => {
        thread.task?.reject(error);
        thread.task = undefined;
        return discard(thread);
      });
      await Promise.all(ending);
    },
  };
}
