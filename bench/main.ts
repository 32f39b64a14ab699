// `npm run bench`: the gateway against its competitors. See README.md in this folder.
import { writeFileSync } from 'node:fs';
import { stopSignals } from '../src/commands/stop-signals.ts';
import { measureCapacity } from './capacity.ts';
import { type BenchServer, startServer } from './database.ts';
import { run as measureValidator } from './docs-config.ts';
import { openGenerator } from './generator.ts';
import { measureGrowth } from './growth.ts';
import { compareImport } from './import.ts';
import { measureWorkload, type Plan, type Series } from './measure.ts';
import { measureOperations } from './operations.ts';
import { help, type Options, readOptions } from './options.ts';
import { prepare } from './prepare.ts';
import { compareBuilds } from './previous.ts';
import { otherTargets, tables } from './report.ts';
import { measureStartup, type Startup } from './startup.ts';
import { type Result, ratios, summarise } from './statistics.ts';
import { stopAll, supports, whyUnavailable } from './systems.ts';

/** How often a warm start is measured. */
const startupRuns = 5;

const print = (text: string) => void process.stdout.write(text);

/** Prints progress: on a terminal in one line that is overwritten, otherwise one line each. */
function logProgress(text: string): void {
  process.stderr.write(process.stderr.isTTY ? `\r\u001b[2K${text}` : `${text}\n`);
}

/** Compares the systems. @returns whether the run passes: only `--previous` and `--check` can fail. */
async function compare(server: BenchServer, options: Options, plan: Plan): Promise<boolean> {
  for (const [system, reason] of options.systems.map((one) => [one, whyUnavailable(one)] as const)) {
    if (reason) print(`${system} is skipped: it ${reason}.\n`);
  }
  const systems = options.systems.filter((system) => !whyUnavailable(system));

  logProgress(`seeding ${options.groups} groups`);
  const database = await server.seed('bench', options.groups);
  const generator = openGenerator();
  await generator.learn(database.name, database.tokenFile);
  const series: Series[] = [];
  for (const workload of options.only) {
    const participants = systems.filter((system) => supports(system, workload));
    series.push(...(await measureWorkload(generator, database, workload, participants, plan)));
  }
  const withStartup = systems.includes('gateway') && !options.check;
  if (withStartup) logProgress('measuring the start of the gateway');
  const startup = withStartup ? await measureStartup(server.folder, startupRuns) : undefined;
  logProgress('');

  const results = summarise(series);
  if (options.check) {
    if (series.length === 0) throw new Error('Nothing was compared: no system that can run here supports such a workload.');
    for (const { workload, system, measurements } of series) {
      const [responses, inFull] = (['responses', 'compared'] as const).map((part) =>
        measurements.reduce((sum, one) => sum + one[part], 0),
      );
      // The baseline's response is constant; its length and status are checked.
      if (!responses || (system !== 'baseline' && inFull !== responses))
        throw new Error(`${workload} ${system}: ${inFull} of ${responses} responses were compared.`);
    }
    const compared = series.flatMap(({ measurements }) => measurements).reduce((sum, one) => sum + one.compared, 0);
    const pairs = series.map(({ workload, system }) => `${workload} ${system}`).join(', ');
    print(`${pairs}\nAll responses were correct; ${compared} were compared in full.\n`);
  } else report(results, series, startup, options);
  if (options.json) writeFileSync(options.json, `${JSON.stringify({ results, ratios: ratios(results) }, null, 2)}\n`);
  if (options.check || options.previous === undefined) return true;
  const { text, slower } = compareBuilds(series);
  print(`\n${text}`);
  return slower.length === 0;
}

function report(results: Result[], series: Series[], startup: Startup | undefined, { groups, rounds, seconds }: Options): void {
  const about = `${groups} groups, 64 connections, medians of ${rounds} rounds of ${seconds} s`;
  print(`\n${about}, Node ${process.version}\n\n${tables(series, results)}\n${otherTargets(results, startup)}`);
}

/** Rejects when the run is interrupted. The process then cleans up before it exits. */
function untilInterrupted(): Promise<never> {
  return new Promise((_, reject) => {
    for (const signal of stopSignals) process.on(signal, () => reject(new Error(`stopped by ${signal}`)));
  });
}

async function main(): Promise<void> {
  const [name] = process.argv.slice(2);
  if (name === 'docs-config') process.exit(measureValidator(print) ? 0 : 1);
  const interrupted = untilInterrupted();
  interrupted.catch(() => {});
  if (name === 'import') process.exit((await compareImport(print, interrupted)) ? 0 : 1);
  if (name === 'capacity') {
    prepare(logProgress);
    return measureCapacity(print, logProgress, interrupted);
  }
  const options = readOptions(process.argv.slice(2));
  if (options === 'help') return print(help);
  prepare(logProgress);
  const { rounds, seconds, check, previous } = options;
  const plan = { rounds, seconds, check, previous, logProgress };
  if (options.scale) return measureOperations(options.groups, print, logProgress, interrupted);
  const server = await startServer();
  try {
    const run = options.growth ? measureGrowth(server, openGenerator(), print, options) : compare(server, options, plan);
    if ((await Promise.race([run, interrupted])) === false) process.exitCode = 1;
  } finally {
    await stopAll();
    await server.close();
  }
}

main().then(
  () => process.exit(),
  (error: Error) => {
    process.stderr.write(`\n${error.message}\n`);
    process.exit(1);
  },
);
