// `npm run bench`: the gateway against its competitors. See README.md in this folder.
import { writeFileSync } from 'node:fs';
import { stopSignals } from '../src/commands/options.ts';
import { measureWorkload, type Series } from './compare.ts';
import { openDatabase } from './database.ts';
import { run as measureValidator } from './docs-config.ts';
import { compareImport } from './import.ts';
import { help, type Options, readOptions } from './options.ts';
import { compareBuilds, describeStartup, ratios, summarize, tables } from './report.ts';
import { measureStartup } from './startup.ts';
import { stopAll, supports } from './systems.ts';

const print = (text: string) => void process.stdout.write(text);
const logProgress = (text: string) => void process.stderr.write(`${text}\n`);

/** Compares the systems. @returns whether the run passes. */
async function compare(options: Options, interrupted: Promise<never>): Promise<boolean> {
  const { groups, only, systems, check, json, previous, rounds, seconds } = options;
  logProgress(`seeding ${groups} groups`);
  const database = await openDatabase(groups);
  try {
    const series: Series[] = [];
    for (const workload of only) {
      const able = systems.filter((system) => supports(system, workload));
      const measured = measureWorkload(database, workload, able, { rounds, seconds, check, previous, logProgress });
      series.push(...(await Promise.race([measured, interrupted])));
    }
    const results = summarize(series);
    if (json) writeFileSync(json, `${JSON.stringify({ results, ratios: ratios(results) }, null, 2)}\n`);
    if (check) return describeCheck(series);
    print(`\n${groups} groups, 64 connections, medians of ${rounds} rounds of ${seconds} s, Node ${process.version}\n\n`);
    print(tables(series));
    if (previous === undefined) {
      if (systems.includes('gateway')) print(`\n${describeStartup(await measureStartup(database.folder))}`);
      return true;
    }
    const { text, isSlower } = compareBuilds(series);
    print(`\n${text}`);
    return !isSlower;
  } finally {
    await stopAll();
    await database.close();
  }
}

/** Prints what was compared. A wrong response has failed the run before. @returns whether everything was. */
function describeCheck(series: readonly Series[]): boolean {
  let isComplete = series.length > 0;
  for (const { workload, system, measurements } of series) {
    for (const { responses, compared } of measurements) {
      // The baseline's response is constant.
      if (system !== 'baseline' && compared < responses) isComplete = false;
      print(`${workload} ${system}: ${responses} responses, ${compared} compared\n`);
    }
  }
  return isComplete;
}

/** Rejects when the run is interrupted. The process then cleans up before it exits. */
function untilInterrupted(): Promise<never> {
  const interrupted = new Promise<never>((_, reject) => {
    for (const signal of stopSignals) process.on(signal, () => reject(new Error(`stopped by ${signal}`)));
  });
  interrupted.catch(() => {});
  return interrupted;
}

async function main(args: string[]): Promise<boolean> {
  const [name] = args;
  if (name === 'docs-config') return measureValidator(print);
  const options = readOptions(name === 'import' ? args.slice(1) : args);
  if (options === 'help') {
    print(help);
    return true;
  }
  return name === 'import' ? compareImport(print, options.groups, untilInterrupted()) : compare(options, untilInterrupted());
}

main(process.argv.slice(2)).then(
  (passed) => process.exit(passed ? 0 : 1),
  (error: Error) => {
    process.stderr.write(`\n${error.message}\n`);
    process.exit(1);
  },
);
