import type { Ends } from './ends.ts';
import type { Totals } from './summary.ts';

/** What a scenario gets. */
export interface ScenarioContext extends Ends {
  readonly totals: Totals;
  /** Adds a figure to the scenario's result. */
  figure(text: string): void;
  /** Makes the scenario fail with this text unless the condition holds. */
  expect(condition: boolean, failure: string): void;
}

/** A fault, and what must hold in spite of it. */
export interface Scenario {
  readonly name: string;
  /** What it does, in one line. */
  readonly summary: string;
  /** Why it cannot run here; undefined if it can. */
  missing?(): string | undefined;
  run(context: ScenarioContext): Promise<void>;
}

/** How a scenario ended. */
export interface ScenarioResult {
  readonly figures: readonly string[];
  /** Why it failed; empty if it passed. */
  readonly failures: readonly string[];
}

/** The value that this fraction of the values does not exceed; 0 without values. */
export function quantile(values: readonly number[], fraction: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(fraction * sorted.length))] ?? 0;
}
