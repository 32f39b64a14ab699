import { setTimeout as sleep } from 'node:timers/promises';

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
