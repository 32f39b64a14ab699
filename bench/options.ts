import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type WorkloadId, workloadIds } from './load/workloads.ts';
import { type SystemId, systemIds } from './systems.ts';

/** The options of a run. */
export interface Options {
  readonly only: readonly WorkloadId[];
  readonly systems: readonly SystemId[];
  readonly rounds: number;
  readonly seconds: number;
  readonly groups: number;
  /** A folder with `dist/` of another build of the gateway, to measure that, too. */
  readonly previous: string | undefined;
  /** The file to write the results to. */
  readonly json: string | undefined;
  /** Whether to check responses instead of measuring: a second each, every response compared. */
  readonly check: boolean;
}

/** The output of `--help`. */
export const help = `Usage: npm run bench -- [options]
       npm run bench -- docs-config   measures the validator
       npm run bench -- import        measures groups import against COPY; takes --groups

  --only LIST      workloads: ${workloadIds.join(', ')}
  --systems LIST   ${systemIds.join(', ')}; with --previous: gateway
  --rounds N       measurements of each system, of which the median counts (5; with --previous: 8)
  --seconds N      how long each takes (3)
  --groups N       user groups in the database (100000)
  --previous DIR   compares the processor time of a request with that of another build: a checkout that is built, or an
                   installed package; the exit status is 1 if a workload takes more
  --json FILE      writes the figures there
  --check          a second each, and every response compared: for CI; prints no results
`;

/** Parses the command line. @throws Error with a message for the user when it is invalid. */
export function readOptions(args: string[]): Options | 'help' {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const options = { only: text, systems: text, rounds: text, seconds: text, groups: text, previous: text, json: text } as const;
  const { values } = parseArgs({ args, options: { ...options, check: flag, help: flag } });
  if (values.help) return 'help';
  const { check } = values;
  const previous = values.previous === undefined ? undefined : resolve(values.previous);
  if (previous !== undefined && !existsSync(join(previous, 'dist/main.js')))
    throw new Error(`--previous: ${previous} has no dist/main.js. Build that checkout first: npm run -s gateway -- --version.`);
  const systems = list('systems', values.systems ?? (previous === undefined ? undefined : 'gateway'), systemIds);
  return {
    previous,
    only: list('only', values.only, workloadIds),
    systems: previous === undefined ? systems : [...systems, 'previous'],
    rounds: check ? 1 : atLeast('rounds', values.rounds ?? (previous === undefined ? '5' : '8'), 1),
    seconds: check ? 1 : atLeast('seconds', values.seconds ?? '3', 0.1),
    groups: atLeast('groups', values.groups ?? (check ? '1000' : '100000'), 100),
    json: values.json,
    check,
  };
}

function list<Name extends string>(option: string, given: string | undefined, known: readonly Name[]): readonly Name[] {
  if (given === undefined) return known;
  const names = given.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !known.includes(name as Name));
  if (unknown !== undefined) throw new Error(`--${option}: unknown value "${unknown}"; expected ${known.join(', ')}.`);
  return known.filter((name) => names.includes(name));
}

function atLeast(option: string, given: string, least: number): number {
  const value = Number(given);
  if (!(value >= least)) throw new Error(`--${option} must be a number of at least ${least}, not "${given}".`);
  return value;
}
