import type { Totals } from './summary.ts';

/** One of the drills of `npm run drill -- NAME`. */
export interface Drill {
  readonly name: string;
  /** What it does, in one line. */
  readonly summary: string;
  /** The text of `--help`. */
  readonly help: string;
  /**
   * Runs it.
   *
   * @param args the arguments after its name.
   * @param totals takes its figures.
   * @param signal ends the run early; every process is stopped nevertheless.
   * @returns the exit status: 0 if everything passed, 2 for wrong arguments.
   */
  run(args: string[], totals: Totals, signal: AbortSignal): Promise<number>;
}

/** Prints a line of a report. */
export const print = (text: string): void => void process.stdout.write(`${text}\n`);
