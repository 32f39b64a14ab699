import type { Measurement } from './load/protocol.ts';
import type { Series } from './measure.ts';
import { grid } from './report.ts';
import { median, medianInterval, minRoundsOfInterval } from './statistics.ts';

/** How much more processor time a request may take than with the other build: less cannot be told from noise. */
const allowedRatio = 1.03;

type Figure = (measurement: Measurement) => number;

const gateway: Figure = ({ cpuMicrosecondsPerRequest }) => cpuMicrosecondsPerRequest ?? Number.NaN;
const database: Figure = ({ databaseMicrosecondsPerRequest }) => databaseMicrosecondsPerRequest ?? Number.NaN;
const figures: readonly Figure[] = [gateway, database, (one) => gateway(one) + database(one)];

/** The comparison of two builds. */
export interface BuildComparison {
  readonly text: string;
  /** The workloads in which a request takes more processor time than is allowed, in the whole interval. */
  readonly slower: readonly string[];
}

/**
 * Compares the processor time of a request, of the gateway and of PostgreSQL, with that of the other build, round by round.
 *
 * @throws Error when the operating system does not report processor times.
 */
export function compareBuilds(series: readonly Series[]): BuildComparison {
  const slower: string[] = [];
  const rows = [...new Set(series.map(({ workload }) => workload))].map((workload) => {
    const of = (system: string) => series.find((one) => one.workload === workload && one.system === system)?.measurements ?? [];
    const [ours, theirs] = [of('gateway'), of('previous')];
    const cells = figures.map((figure) => {
      const quotients = ours.map((one, round) => figure(one) / figure(theirs[round] as Measurement));
      if (quotients.some(Number.isNaN)) throw new Error('--previous needs /proc, from which it reads processor times.');
      const interval = medianInterval(quotients);
      const ratio = interval
        ? `${interval.median.toFixed(3)} (${interval.low.toFixed(3)}–${interval.high.toFixed(3)})`
        : median(quotients).toFixed(3);
      const [here, there] = [ours, theirs].map((each) => median(each.map(figure)).toFixed(1));
      return { text: `${here} : ${there}  ${ratio}`, interval };
    });
    const both = cells.at(-1)?.interval;
    if (both && both.low > allowedRatio) slower.push(workload);
    const verdict = both ? (both.low > allowedRatio ? 'slower' : 'ok') : `needs ${minRoundsOfInterval} rounds`;
    return [workload, ...cells.map(({ text }) => text), verdict];
  });
  const header = ['CPU µs/request, this build : previous', 'gateway', 'database', 'both', `≤ ${allowedRatio}`];
  const about =
    'The quotient is the median of the rounds, with its 95 % interval. A workload is slower if the whole interval of both is above the limit.';
  return { text: `${grid([header, ...rows])}${about}\n`, slower };
}
