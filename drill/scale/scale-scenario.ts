import type { Ends } from '../ends.ts';
import type { LoadReport } from './load-recorder.ts';

/** What a scenario gets. */
export interface ScenarioContext extends Ends {
  /** Prints the result of one event. */
  result(result: EventResult): void;
}

/** What happened around one event, such as the end of a server. */
export interface EventResult {
  readonly event: string;
  readonly report?: LoadReport;
  /** How many gateways ended by themselves and would have to be started again. */
  readonly restarts?: number;
  /** Further figures. */
  readonly note?: string;
  /** What is wrong apart from the report. */
  readonly failures?: readonly string[];
}

/** A topology, and what happens to it. */
export interface ScaleScenario {
  readonly name: string;
  /** The Debian packages of the programs that it needs, by program. */
  readonly needs: Readonly<Record<string, string>>;
  run(context: ScenarioContext): Promise<void>;
}

/** Why a result fails; empty if it passes. */
export function violations({ report, restarts = 0, failures = [] }: EventResult): string[] {
  return [...failures, ...(restarts > 0 ? [`${restarts} gateways ended`] : []), ...(report ? reportViolations(report) : [])];
}

function reportViolations({ lost, admitted, active, resolved, stale, wrong, closed, ...done }: LoadReport): string[] {
  return [
    lost.length > 0 && `${lost.length} acknowledged writes are lost: ${lost.slice(0, 3).join('; ')}`,
    admitted > 0 && `a revoked API token was admitted ${admitted} times`,
    active > 0 && `a revoked embed token was active ${active} times`,
    resolved > 0 && `a suspended group was found ${resolved} times`,
    stale > 0 && `${stale} stale responses`,
    wrong.length > 0 && `${wrong.length} wrong responses: ${wrong.slice(0, 3).join('; ')}`,
    closed > 0 && `${closed} requests without a response`,
    [done.acknowledged, done.served, done.revoked, done.revokedEmbedTokens, done.suspended].includes(0) && 'the load did nothing',
  ].filter((text) => text !== false);
}

/** The header of the table, in Markdown. */
export const heading =
  '| topology | event | without writes, s | without reads, s | acknowledged | API tokens revoked | embed tokens revoked | suspended | 503 | closed | lost | admitted | active | resolved | stale | restarts | |\n' +
  `|${'---|'.repeat(17)}`;

/** A row of the table. */
export function describe(topology: string, result: EventResult): string {
  const { event, report, restarts = 0, note = '' } = result;
  const figures = report
    ? [
        seconds(report.writeOutageMs),
        seconds(report.readOutageMs),
        report.acknowledged,
        report.revoked,
        report.revokedEmbedTokens,
        report.suspended,
        report.unavailable,
        report.closed,
        report.lost.length,
        report.admitted,
        report.active,
        report.resolved,
        report.stale,
        restarts,
      ]
    : Array.from({ length: 14 }, () => '');
  const found = violations(result);
  return [`| ${[topology, event, ...figures, note].join(' | ')} |`, ...found.map((text) => `    FAIL: ${text}`)].join('\n');
}

const seconds = (ms: number): string => (ms / 1_000).toFixed(1);
