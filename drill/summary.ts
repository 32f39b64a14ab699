/** What was served and refused under overload. */
export interface Overload {
  readonly requests: number;
  readonly served: number;
  readonly refused: number;
  /** The 99th percentile of each, in milliseconds. */
  readonly servedP99Ms: number;
  readonly refusedP99Ms: number;
}

/** The figures of every scenario of a run; undefined or 0 where the scenario has not run. */
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
  /** At four times the capacity. */
  overload?: Overload;
  /**
   * `requests` are requests and connections, of which one that sends many requests, or no whole one, counts once. `refused` are
   * the 503 that say that the gateway is overloaded and when to try again; `serverErrors` is every other 5xx.
   */
  hostile?: { readonly requests: number; readonly refused: number; readonly serverErrors: number };
  /** `requests` is one for each credential with each operation, in each way that it can be sent. */
  access?: {
    readonly credentials: number;
    readonly operations: number;
    readonly requests: number;
    readonly wrongAdmissions: number;
    readonly wrongRefusals: number;
  };
  /** Lines of scenarios that are not among these figures. */
  readonly notes: string[];
  passed: number;
  failed: number;
  skipped: number;
}

/** No figures yet. */
export const emptyTotals = (): Totals => ({
  kills: 0,
  killsAfterCommit: 0,
  acknowledged: 0,
  lost: 0,
  recoveriesMs: [],
  notes: [],
  passed: 0,
  failed: 0,
  skipped: 0,
});

/** A figure with what it must be; without a value, it was not measured. */
interface Figure {
  readonly name: string;
  readonly value: string | undefined;
  readonly required: string;
  readonly holds: boolean;
}

const leastKillsAfterCommit = 20;
const mostRecoveryMs = 3_000;

/** Within this, a request that is not served must be refused. */
export const mostRefusalMs = 1_000;

function figuresOf({ kills, killsAfterCommit, acknowledged, lost, recoveriesMs, ...rest }: Totals): Figure[] {
  const { overload, hostile, access } = rest;
  const slowestMs = Math.max(...recoveriesMs);
  const figure = (name: string, value: string | false | undefined, required = '', holds = true): Figure => ({
    name,
    value: value === false ? undefined : value,
    required,
    holds,
  });
  return [
    figure('kills survived', kills > 0 && `${kills}`),
    figure(
      'kills between COMMIT and response',
      ...([killsAfterCommit > 0 && `${killsAfterCommit}`, `at least ${leastKillsAfterCommit}`] as const),
      killsAfterCommit >= leastKillsAfterCommit,
    ),
    figure('acknowledged writes lost', acknowledged > 0 && `${lost} of ${grouped(acknowledged)}`, '0', lost === 0),
    figure(
      'time to serve after the database is back',
      recoveriesMs.length > 0 && `at most ${seconds(slowestMs)} s (${recoveriesMs.length} times)`,
      `at most ${mostRecoveryMs / 1_000} s`,
      slowestMs <= mostRecoveryMs,
    ),
    figure(
      'requests refused at 4 × capacity',
      overload &&
        `${grouped(overload.refused)} of ${grouped(overload.requests)}, p99 ${seconds(overload.refusedP99Ms)} s; p99 of the ${grouped(overload.served)} served ${seconds(overload.servedP99Ms)} s`,
      `more than 0, p99 less than ${mostRefusalMs / 1_000} s`,
      overload !== undefined && overload.refused > 0 && overload.served > 0 && overload.refusedP99Ms < mostRefusalMs,
    ),
    figure(
      'hostile requests or connections, and 5xx',
      hostile &&
        `${grouped(hostile.requests)} and ${hostile.serverErrors} (${grouped(hostile.refused)} others refused with 503, "try again")`,
      '0',
      hostile?.serverErrors === 0,
    ),
    figure(
      'credentials × operations and wrong admissions',
      access &&
        `${access.credentials} × ${access.operations}, ${grouped(access.requests)} requests, and ${access.wrongAdmissions} (wrong refusals: ${access.wrongRefusals})`,
      '0',
      access?.wrongAdmissions === 0 && access.wrongRefusals === 0,
    ),
  ];
}

/**
 * The summary of a run as a table in Markdown, and whether every figure is what it must be.
 *
 * @param isComplete whether every figure must have been measured; otherwise those that were not are left out.
 */
export function summarize(totals: Totals, isComplete: boolean): { readonly text: string; readonly holds: boolean } {
  const figures = figuresOf(totals).filter(({ value }) => isComplete || value !== undefined);
  const lines = figures.map(({ name, value, required, holds }) => {
    const result = value === undefined ? 'NOT MEASURED' : holds ? 'ok' : 'FAILED';
    return `| ${name} | ${value ?? ''} | ${required} | ${result} |`;
  });
  const table = lines.length > 0 ? ['| figure | measured | required | result |', '|---|---|---|---|', ...lines, ''] : [];
  const { passed, failed, skipped, notes } = totals;
  return {
    text: [...table, ...notes, `${passed} scenarios passed, ${failed} failed, ${skipped} not run`].join('\n'),
    holds: figures.every(({ value, holds }) => value !== undefined && holds),
  };
}

/** Milliseconds as seconds. */
export const seconds = (ms: number): string => (ms / 1_000).toFixed(2);

const grouped = (count: number): string => count.toLocaleString('en-US');

/** The value that this fraction of the values does not exceed; 0 without values. */
export function quantile(values: readonly number[], fraction: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(fraction * sorted.length))] ?? 0;
}
