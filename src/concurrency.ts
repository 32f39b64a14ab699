import { setTimeout as sleep } from 'node:timers/promises';
import { GatewayError, nothingChanged } from './errors.ts';

/**
 * Bounds the work in progress, fair between keys: what waits stands in a line for each key, and the lines take turns. A busy key
 * delays each of the others by one piece of work at a time.
 */
export class Semaphore<Key> {
  private readonly lines = new Map<Key, (() => void)[]>();
  private readonly maxWaiting: number;
  private free: number;

  /** @param permits how much runs at once. @param maxWaiting how much waits of each key. */
  constructor(permits: number, maxWaiting: number) {
    this.free = permits;
    this.maxWaiting = maxWaiting;
  }

  /** Runs `work` when it is the key's turn. @throws GatewayError `UNAVAILABLE` when too much of the key waits. */
  async run<Result>(key: Key, work: () => Promise<Result>): Promise<Result> {
    if (this.free > 0) this.free -= 1;
    else await this.wait(key);
    try {
      return await work();
    } finally {
      this.leave();
    }
  }

  private wait(key: Key): Promise<void> {
    const line = this.lines.get(key) ?? [];
    if (line.length >= this.maxWaiting) throw overloaded();
    this.lines.set(key, line);
    return new Promise((resolve) => line.push(resolve));
  }

  /** Gives the permit to the next line, which then stands behind the others. */
  private leave(): void {
    const [next] = this.lines;
    if (!next) {
      this.free += 1;
      return;
    }
    const [key, line] = next;
    this.lines.delete(key);
    line.shift()?.();
    if (line.length > 0) this.lines.set(key, line);
  }
}

const overloaded = (): GatewayError =>
  new GatewayError(
    'UNAVAILABLE',
    `Too many reads of lists wait for their turn. ${nothingChanged}Try again after the number of seconds in the Retry-After header.`,
  );

/** How often what was noted is written. */
const intervalMs = 5_000;

/** How much is written in one statement. */
const maxPerStatement = 5_000;

/** How much waits at most while the database takes no writes: some 100 MB. What comes then is not recorded. */
const maxNoted = 1_000_000;

/** Records when things last happened: in memory at once, in the database every few seconds, never while a request waits. */
export interface Recorder {
  /** Records that it happened now to what has this id. */
  note(id: number): void;
  /** Writes what was noted; what cannot be written is kept for the next time. Never rejects. */
  flush(): Promise<void>;
  /** Ends the recording after a last write. Never rejects. */
  stop(): Promise<void>;
}

/**
 * Starts a recorder.
 *
 * @param write takes how many seconds ago it last happened, by id.
 * @param onWritten receives the outcome of each write: the error, or nothing.
 */
export function startRecorder(
  write: (secondsAgo: ReadonlyMap<number, number>) => Promise<void>,
  onWritten: (error?: unknown) => void = () => {},
): Recorder {
  /** By the process's monotonic clock, in milliseconds: another clock than the database's would store times that never come. */
  const noted = new Map<number, number>();

  async function writeNoted(): Promise<void> {
    const entries = [...noted];
    for (let at = 0; at < entries.length; at += maxPerStatement) {
      const batch = entries.slice(at, at + maxPerStatement);
      await write(new Map(batch.map(([id, atMs]) => [id, (performance.now() - atMs) / 1_000])));
      for (const [id, atMs] of batch) if (noted.get(id) === atMs) noted.delete(id); // otherwise it has happened again
      onWritten();
    }
  }

  const flush = () => writeNoted().catch(onWritten);
  const end = runPeriodically(writeNoted, {
    firstDelayMs: intervalMs,
    nextDelayMs: () => intervalMs,
    onFailure: onWritten,
  });
  return {
    note(id) {
      if (noted.size < maxNoted || noted.has(id)) noted.set(id, performance.now());
    },
    flush,
    async stop() {
      await end();
      await flush();
    },
  };
}

/** When something runs. */
export interface Schedule {
  /** How long the first run waits, in milliseconds. */
  readonly firstDelayMs: number;
  /** How long the next run waits, in milliseconds. @param failure why the last one failed; undefined if it did not. */
  readonly nextDelayMs: (failure: unknown) => number;
  /** A run failed; the next one begins as scheduled. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * Runs `work` again and again, one run after another.
 *
 * @param work takes a signal that ends it early.
 * @returns a function that stops it and waits for its end.
 */
export function runPeriodically(work: (signal: AbortSignal) => Promise<void>, schedule: Schedule): () => Promise<void> {
  const controller = new AbortController();
  const { signal } = controller;
  const wait = (milliseconds: number) => sleep(milliseconds, undefined, { signal, ref: false }).catch(() => {});

  async function run(): Promise<void> {
    await wait(schedule.firstDelayMs);
    while (!signal.aborted) {
      let failure: unknown;
      try {
        await work(signal);
      } catch (error) {
        failure = error;
        schedule.onFailure(error);
      }
      await wait(schedule.nextDelayMs(failure));
    }
  }

  const ended = run();
  return async () => {
    controller.abort();
    await ended;
  };
}
