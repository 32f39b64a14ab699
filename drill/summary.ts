/** The figures of every scenario of a run; undefined or 0 where the scenario has not run. */
export interface Totals {
  /** Processes that were killed, after which the gateway served again. */
  kills: number;
  /** Writes that were acknowledged, and those of them that are not stored. */
  acknowledged: number;
  lost: number;
  /**
   * `requests` are requests and connections, of which one that sends many requests, or no whole one, counts once. `refused` are
   * the 503 that say that the gateway is overloaded and when to try again; `serverErrors` is every other 5xx.
   */
  hostile?: { readonly requests: number; readonly refused: number; readonly serverErrors: number };
  passed: number;
  failed: number;
  skipped: number;
}

/** No figures yet. */
export const emptyTotals = (): Totals => ({
  kills: 0,
  acknowledged: 0,
  lost: 0,
  passed: 0,
  failed: 0,
  skipped: 0,
});

/** The sums of a run, and whether they are what they must be. */
export function summarize({ passed, failed, skipped, kills, acknowledged, lost, hostile }: Totals) {
  const lines = [
    `${passed} scenarios passed, ${failed} failed, ${skipped} not run`,
    ...(acknowledged > 0 ? [`${lost} of ${grouped(acknowledged)} acknowledged writes lost; ${kills} kills survived`] : []),
    ...(hostile
      ? [
          `${grouped(hostile.requests)} hostile requests or connections, ${hostile.serverErrors} got 5xx, ${grouped(hostile.refused)} "try again"`,
        ]
      : []),
  ];
  return { text: lines.join('\n'), holds: lost === 0 && (hostile?.serverErrors ?? 0) === 0 };
}

/** Milliseconds as seconds. */
export const seconds = (ms: number): string => (ms / 1_000).toFixed(2);

const grouped = (count: number): string => count.toLocaleString('en-US');

/** The value that this fraction of the values does not exceed; 0 without values. */
export function quantile(values: readonly number[], fraction: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(fraction * sorted.length))] ?? 0;
}
