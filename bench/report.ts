import { median, type Series } from './compare.ts';
import type { Measurement } from './load/run.ts';
import type { Startup } from './startup.ts';

/** The figures of one system with one workload, each the median of its rounds; `null` without /proc. */
export interface Result {
  readonly workload: string;
  readonly system: string;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly cpuMicrosecondsPerRequest: number | null;
  readonly databaseMicrosecondsPerRequest: number | null;
  readonly rssMiB: number | null;
}

/** The gateway's requests per second divided by those of another system. */
export interface Ratio {
  readonly workload: string;
  readonly against: string;
  readonly requestsPerSecond: number;
}

/** The utilization of the load generator above which it is the bottleneck. */
const generatorLimit = 0.9;

/** How much more processor time a request may take than with another build. */
const allowedRatio = 1.05;

/** The medians of some series. */
export function summarize(series: readonly Series[]): Result[] {
  return series.map(({ workload, system, measurements }) => {
    const of = (figure: (one: Measurement) => number | undefined, digits: number) => {
      const value = median(measurements.map((one) => figure(one) ?? Number.NaN));
      return Number.isNaN(value) ? null : Number(value.toFixed(digits));
    };
    return {
      workload,
      system,
      requestsPerSecond: of((one) => one.requestsPerSecond, 0) ?? 0,
      p50Ms: of((one) => one.p50Ms, 3) ?? 0,
      p99Ms: of((one) => one.p99Ms, 3) ?? 0,
      cpuMicrosecondsPerRequest: of((one) => one.cpuMicrosecondsPerRequest, 1),
      databaseMicrosecondsPerRequest: of((one) => one.databaseMicrosecondsPerRequest, 1),
      rssMiB: of((one) => one.rssMiB, 1),
    };
  });
}

/** The gateway against each other system that was measured with the same workload. */
export function ratios(results: readonly Result[]): Ratio[] {
  return results.flatMap(({ workload, system, requestsPerSecond }) => {
    const ours = results.find((one) => one.workload === workload && one.system === 'gateway');
    if (!ours || system === 'gateway') return [];
    const ratio = Number((ours.requestsPerSecond / requestsPerSecond).toFixed(3));
    return [{ workload, against: system, requestsPerSecond: ratio }];
  });
}

/** A table for each workload. The range is that of the ratios of single rounds. */
export function tables(series: readonly Series[]): string {
  const results = summarize(series);
  const all = ratios(results);
  const header = ['', 'requests/s', 'p50 ms', 'p99 ms', 'CPU µs/request', 'database', 'RSS MiB', 'gateway ÷ it', 'range'];
  return [...new Set(results.map(({ workload }) => workload))]
    .map((workload) => {
      const rows = results.flatMap((result) => {
        if (result.workload !== workload) return [];
        const { system, requestsPerSecond, p50Ms, p99Ms, cpuMicrosecondsPerRequest, databaseMicrosecondsPerRequest } = result;
        const ratio = all.find((one) => one.workload === workload && one.against === system);
        const [least, most] = rangeOf(roundsOf(series, workload, system, (one) => one.requestsPerSecond));
        return [
          [
            system,
            String(requestsPerSecond),
            p50Ms.toFixed(2),
            p99Ms.toFixed(2),
            String(cpuMicrosecondsPerRequest ?? '–'),
            String(databaseMicrosecondsPerRequest ?? '–'),
            String(result.rssMiB ?? '–'),
            ratio ? `${ratio.requestsPerSecond.toFixed(2)} ×` : '',
            ratio ? `${least} to ${most}` : '',
          ],
        ];
      });
      return `${workload}\n${grid([header, ...rows])}${saturated(series, workload)}`;
    })
    .join('\n');
}

/** The line about warm starts. */
export const describeStartup = ({ seconds, rssMiB }: Startup): string =>
  `warm start to /readyz 200: ${seconds.toFixed(2)} s, memory then ${rssMiB.toFixed(0)} MiB\n`;

/** Lists the systems for which the load generator may have been the bottleneck. */
function saturated(series: readonly Series[], workload: string): string {
  const names = series
    .filter((one) => one.workload === workload)
    .filter(({ measurements }) => median(measurements.map(({ generatorLoad }) => generatorLoad)) > generatorLimit)
    .map(({ system }) => system);
  return names.length > 0 ? `The load generator was saturated, so these may be faster: ${names.join(', ')}\n` : '';
}

/** The quotients of a figure of the gateway and of another system, round by round. */
function roundsOf(series: readonly Series[], workload: string, system: string, figure: (one: Measurement) => number): number[] {
  const of = (name: string) => series.find((one) => one.workload === workload && one.system === name)?.measurements ?? [];
  const theirs = of(system);
  return of('gateway').map((ours, round) => figure(ours) / figure(theirs[round] as Measurement));
}

const rangeOf = (quotients: readonly number[]): string[] =>
  [Math.min(...quotients), Math.max(...quotients)].map((quotient) => quotient.toFixed(2));

/**
 * Compares the processor time of a request, of gateway and PostgreSQL together, with that of another build.
 *
 * @throws Error when the operating system does not report processor times.
 */
export function compareBuilds(series: readonly Series[]): { readonly text: string; readonly isSlower: boolean } {
  const cpu = (one: Measurement) => (one.cpuMicrosecondsPerRequest ?? NaN) + (one.databaseMicrosecondsPerRequest ?? NaN);
  let isSlower = false;
  const rows = [...new Set(series.map(({ workload }) => workload))].map((workload) => {
    const quotients = roundsOf(series, workload, 'previous', cpu);
    if (quotients.some(Number.isNaN)) throw new Error('--previous needs /proc, from which it reads processor times.');
    const ratio = median(quotients);
    if (ratio > allowedRatio) isSlower = true;
    return [workload, ratio.toFixed(3), rangeOf(quotients).join(' to '), ratio > allowedRatio ? 'slower' : 'ok'];
  });
  return { text: grid([['CPU of a request, this build ÷ previous', 'median', 'range', ''], ...rows]), isSlower };
}

/** Aligns columns: the first and the last to the left, the others to the right. */
function grid(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const cell = (text: string, column: number) =>
    column === 0 || column === widths.length - 1 ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0);
  return rows.map((row) => `  ${row.map(cell).join('  ').trimEnd()}\n`).join('');
}
