/** Figures of all rows together, for the summary. */
export interface Totals {
  /** Processes that were killed, after which the gateway served again. */
  kills: number;
  /** Gateways that were killed after a COMMIT and before its response. */
  killsAfterCommit: number;
  /** Writes that were acknowledged, and those of them that are not stored. */
  acknowledged: number;
  lost: number;
  /** From when the database accepts connections until the gateway serves, in milliseconds. */
  readonly recoveriesMs: number[];
  /** Lines of rows for the summary, such as what was refused under overload. */
  readonly notes: string[];
}

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

/** No figures yet. */
export const emptyTotals = (): Totals => ({
  ...{ kills: 0, killsAfterCommit: 0, acknowledged: 0, lost: 0 },
  ...{ recoveriesMs: [], notes: [] },
});

/** The summary of the rows that ran, a line for each figure that they measured. */
export function summarize({ kills, killsAfterCommit, acknowledged, lost, recoveriesMs, notes }: Totals): string[] {
  return [
    ...(kills > 0 ? [`kills survived: ${kills}`] : []),
    ...(acknowledged > 0 ? [`acknowledged writes: ${acknowledged}; lost: ${lost}`] : []),
    ...(killsAfterCommit > 0 ? [`kills between COMMIT and response: ${killsAfterCommit}`] : []),
    ...(recoveriesMs.length > 0
      ? [
          `served again after the database was back: at most ${seconds(Math.max(...recoveriesMs))} s (${recoveriesMs.length} times)`,
        ]
      : []),
    ...notes,
  ];
}

/** Milliseconds as seconds. */
export const seconds = (ms: number): string => (ms / 1_000).toFixed(2);

/** The value that this fraction of the values does not exceed; 0 without values. */
export function quantile(values: readonly number[], fraction: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(fraction * sorted.length))] ?? 0;
}
