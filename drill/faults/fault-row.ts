import type { Totals } from '../summary.ts';

/** What a row gets. */
export interface RowContext {
  /** An empty folder that PostgreSQL's user may enter; deleted afterwards. */
  readonly folder: string;
  readonly totals: Totals;
  /**
   * Registers what ends something, before that is started, for the end of the row or its interruption; called in reverse order.
   *
   * @throws Error once the row was interrupted.
   */
  onEnd(close: () => Promise<void> | void): void;
  /** Adds a figure to the row's result. */
  figure(text: string): void;
  /** Makes the row fail with this text unless the condition holds. */
  expect(condition: boolean, failure: string): void;
}

/** A fault, and what must hold in spite of it. */
export interface FaultRow {
  readonly name: string;
  /** What it does, in one line. */
  readonly summary: string;
  /** Why it cannot run here; undefined if it can. */
  missing?(): string | undefined;
  run(context: RowContext): Promise<void>;
}

/** How a row ended. */
export interface RowResult {
  readonly figures: readonly string[];
  /** Why it failed; empty if it passed. */
  readonly failures: readonly string[];
}

/** The value that this fraction of the values does not exceed; 0 without values. */
export function quantile(values: readonly number[], fraction: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(fraction * sorted.length))] ?? 0;
}
