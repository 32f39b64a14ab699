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
   * @param signal ends the run early; every process is stopped nevertheless.
   * @returns the exit status: 0 if everything passed, 2 for wrong arguments.
   */
  run(args: string[], signal: AbortSignal): Promise<number>;
}

/** Prints a line of a report. */
export const print = (text: string): void => void process.stdout.write(`${text}\n`);

const summary: string[] = [];

/** Adds a line to the summary that follows everything else. */
export const addSummary = (text: string): void => void summary.push(text);

/** Prints the summary. */
export function printSummary(): void {
  if (summary.length > 0) print(`\n${summary.join('\n')}`);
}
