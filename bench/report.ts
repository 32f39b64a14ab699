import type { Series } from './measure.ts';
import type { Startup } from './startup.ts';
import { median, medianOf, type Ratio, type Result, ratios } from './statistics.ts';

/** The targets: the gateway's requests per second divided by a competitor's. */
const targets: readonly Ratio[] = [
  { workload: 'gql-token', against: 'mercurius', requestsPerSecond: 2 },
  { workload: 'gql-list', against: 'mercurius', requestsPerSecond: 0.6 },
  { workload: 'gql-token', against: 'yoga', requestsPerSecond: 8 },
  { workload: 'gql-token', against: 'baseline', requestsPerSecond: 0.35 },
  { workload: 'rest-get', against: 'fastify', requestsPerSecond: 1.8 },
  { workload: 'rest-create', against: 'fastify', requestsPerSecond: 0.8 },
  { workload: 'rest-update', against: 'fastify', requestsPerSecond: 0.8 },
  { workload: 'gql-token', against: 'batched', requestsPerSecond: 1 },
];

/** The maximum memory of the gateway under load. */
const memoryTargetMb = 200;

/** The maximum duration of a warm start. */
const startTargetSeconds = 2;

/** The utilization of the load generator above which it is the bottleneck. */
const generatorLimit = 0.9;

const header = ['', 'requests/s', 'p50 ms', 'p99 ms', 'CPU µs/request', 'database', 'RSS MiB', 'gateway ÷ it', 'target'];

/** A table for each workload. */
export function tables(series: readonly Series[], results: readonly Result[]): string {
  const allRatios = ratios(results);
  return [...new Set(results.map(({ workload }) => workload))]
    .map((workload) => {
      const rows = results
        .filter((result) => result.workload === workload)
        .map((result) => {
          const ratio = allRatios.find((one) => one.workload === workload && one.against === result.system);
          const target = targets.find((one) => one.workload === workload && one.against === result.system);
          return [
            result.system,
            result.requestsPerSecond.toFixed(0),
            result.p50Ms.toFixed(2),
            result.p99Ms.toFixed(2),
            result.cpuMicrosecondsPerRequest?.toFixed(0) ?? '–',
            databaseCpu(series, workload, result.system)?.toFixed(0) ?? '–',
            result.rssMiB?.toFixed(0) ?? '–',
            ratio ? `${ratio.requestsPerSecond.toFixed(2)} ×${spread(series, workload, result.system)}` : '',
            target && ratio
              ? verdict(`≥ ${target.requestsPerSecond} ×`, ratio.requestsPerSecond >= target.requestsPerSecond)
              : '',
          ];
        });
      return `${workload}\n${grid([header, ...rows])}${busy(series, workload)}`;
    })
    .join('\n');
}

/** The targets other than ratios of requests per second. */
export function otherTargets(results: readonly Result[], startup: Startup | undefined): string {
  const of = (system: string) => results.find((one) => one.workload === 'gql-token' && one.system === system);
  const [gateway, mercurius] = [of('gateway'), of('mercurius')];
  const rows: string[][] = [];
  if (gateway && mercurius) {
    const reached = gateway.p99Ms <= mercurius.p99Ms;
    const found = `${gateway.p99Ms.toFixed(2)} ms, mercurius ${mercurius.p99Ms.toFixed(2)} ms`;
    rows.push(['gql-token p99', found, verdict('no worse', reached)]);
  }
  if (gateway?.rssMiB != null) {
    const mb = gateway.rssMiB * 1.048576;
    rows.push(['memory under gql-token', `${mb.toFixed(0)} MB`, verdict(`≤ ${memoryTargetMb} MB`, mb <= memoryTargetMb)]);
  }
  if (startup) {
    const { warmStartSeconds, rssAtRestMiB } = startup;
    const reached = warmStartSeconds <= startTargetSeconds;
    rows.push(['warm start to /readyz 200', `${warmStartSeconds.toFixed(2)} s`, verdict(`≤ ${startTargetSeconds} s`, reached)]);
    if (rssAtRestMiB !== undefined) rows.push(['memory at rest', `${(rssAtRestMiB * 1.048576).toFixed(0)} MB`, '']);
  }
  return rows.length > 0 ? grid([['gateway', 'found', 'target'], ...rows]) : '';
}

/** The CPU time of a request in PostgreSQL's processes. */
function databaseCpu(series: readonly Series[], workload: string, system: string): number | null {
  const found = series.find((one) => one.workload === workload && one.system === system);
  return medianOf(found?.measurements.map((one) => one.databaseMicrosecondsPerRequest) ?? []);
}

/** The smallest and the largest ratio of a single round. */
function spread(series: readonly Series[], workload: string, system: string): string {
  const of = (name: string) => series.find((one) => one.workload === workload && one.system === name)?.measurements ?? [];
  const theirs = of(system);
  const each = of('gateway').map((ours, round) => ours.requestsPerSecond / (theirs[round]?.requestsPerSecond ?? Number.NaN));
  return each.length > 1 ? ` (${Math.min(...each).toFixed(2)}–${Math.max(...each).toFixed(2)})` : '';
}

/** Lists the systems for which the load generator may have been the bottleneck. */
function busy(series: readonly Series[], workload: string): string {
  const held = series
    .filter((one) => one.workload === workload)
    .map(({ system, measurements }) => ({ system, load: median(measurements.map(({ generatorLoad }) => generatorLoad)) }))
    .filter(({ load }) => load > generatorLimit);
  const names = held.map(({ system, load }) => `${system} (${Math.round(load * 100)} %)`).join(', ');
  return names ? `The load generator was saturated, so these may be faster than measured: ${names}\n` : '';
}

const verdict = (target: string, reached: boolean): string => `${target} ${reached ? 'reached' : 'not reached'}`;

/** Aligns columns: the first and the last to the left, the others to the right. */
export function grid(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const cell = (text: string, column: number) =>
    column === 0 || column === widths.length - 1 ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0);
  return rows.map((row) => `  ${row.map(cell).join('  ').trimEnd()}\n`).join('');
}
